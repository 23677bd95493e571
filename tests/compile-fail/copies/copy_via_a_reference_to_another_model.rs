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

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "suppliers")]
struct Supplier {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Serialize, Deserialize, Embed)]
struct PartLink {
    #[reference(child)]
    id: Ref<Part>,
    #[reference(child)]
    supplier: Ref<Supplier>,
    #[denormalize(from = "Part.name", via = "supplier")]
    name: String,
}

fn main() {}

// - #[denormalize(from = "Part.name", via = "supplier")]
// + #[denormalize(from = "Part.name", via = "id")]
