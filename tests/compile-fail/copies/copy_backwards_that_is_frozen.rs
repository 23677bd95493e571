use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    #[reference(child)]
    parts: Vec<Ref<Part>>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[denormalize(from = "Product.name", via = "Product.parts", freeze)]
    products: Vec<String>,
}

fn main() {}

// - #[denormalize(from = "Product.name", via = "Product.parts", freeze)]
// + #[denormalize(from = "Product.name", via = "Product.parts")]
