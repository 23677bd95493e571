use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[denormalize(from = "Product.name", via = "Product.parts.id")]
    products: Vec<String>,
}

#[derive(Serialize, Deserialize, Embed)]
struct PartLink {
    #[reference(child)]
    id: Ref<Part>,
    quantity: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    #[embed]
    parts: std::collections::BTreeMap<String, PartLink>,
}

fn main() {}

// - parts: std::collections::BTreeMap<String, PartLink>,
// + parts: Vec<PartLink>,
