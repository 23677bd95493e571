use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    #[denormalize(from = "Product.name", via = "Product.parts")]
    products: Vec<String>,
    qty: i32,
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
    parts: Vec<PartLink>,
}

fn main() {}

// - #[denormalize(from = "Product.name", via = "Product.parts")]
// + #[denormalize(from = "Product.name", via = "Product.parts.id")]
