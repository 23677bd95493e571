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
    quantity: i32,
    #[denormalize(from = "Part.name")]
    name: String,
}

fn main() {}

// + #[reference(child)]
// + id: Ref<Part>,
//   quantity: i32,
