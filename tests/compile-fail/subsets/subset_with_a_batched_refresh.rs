use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[subset(limit = 3, sort = "at", refresh = "batched")]
    logs: Subset<Log>,
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

// - #[subset(limit = 3, sort = "at", refresh = "batched")]
// + #[subset(limit = 3, sort = "at", refresh = "later")]
