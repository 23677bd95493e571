use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    qty: i32,
}

#[derive(Serialize, Deserialize, Embed)]
struct PartLink {
    #[reference(child)]
    id: Ref<Part>,
    #[denormalize(from = "Part.name", via = "part")]
    name: String,
}

fn main() {}

// - #[denormalize(from = "Part.name", via = "part")]
// + #[denormalize(from = "Part.name", via = "id")]
