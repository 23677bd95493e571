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
    #[denormalize(from = "Part.id")]
    number: i64,
}

fn main() {}

// - #[denormalize(from = "Part.id")]
// - number: i64,
// + #[denormalize(from = "Part.name")]
// + name: String,
