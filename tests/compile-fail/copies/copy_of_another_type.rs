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
    quantity: i32,
    #[denormalize(from = "Part.qty")]
    qty: i64,
}

fn main() {}

// - qty: i64,
// + qty: i32,
