use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "uses")]
struct Use {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(child)]
    #[serde(skip_serializing_if = "is_first")]
    part: Ref<Part>,
}

fn is_first(part: &Ref<Part>) -> bool {
    *part.id() == 1
}

fn main() {}

// - #[serde(skip_serializing_if = "is_first")]
//   part: Ref<Part>,
