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
    part: Ref<Part>,
    #[denormalize(from = "Part.name", refresh)]
    name: String,
}

fn main() {}

// - #[denormalize(from = "Part.name", refresh)]
// + #[denormalize(from = "Part.name", refresh = "later")]
