use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[count(of = "Log", refresh = "batched")]
    logs: i64,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "logs")]
struct Log {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    part: Ref<Part>,
    at: i64,
}

fn main() {}

// - #[count(of = "Log", refresh = "batched")]
// + #[count(of = "Log", refresh = "later")]
