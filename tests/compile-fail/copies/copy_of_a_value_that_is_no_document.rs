use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Money {
    currency: String,
}

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
    #[denormalize(from = "Money.currency", via = "id")]
    currency: String,
}

fn main() {}

// - #[denormalize(from = "Money.currency", via = "id")]
// - currency: String,
// + #[denormalize(from = "Part.name", via = "id")]
// + name: String,
