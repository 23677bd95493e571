use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "suppliers")]
struct Supplier {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    #[reference(child)]
    parts: Vec<Ref<Part>>,
    #[reference(child)]
    bestseller: Option<Ref<Supplier>>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    names: Names,
}

#[derive(Serialize, Deserialize, Embed)]
struct Names {
    #[denormalize(from = "Product.name", via = "Product.parts")]
    products: Vec<String>,
}

fn main() {}

// - #[embed]
// - names: Names,
// + #[denormalize(from = "Product.name", via = "Product.parts")]
// + products: Vec<String>,
//
//   struct Names {
// -     #[denormalize(from = "Product.name", via = "Product.parts")]
//       products: Vec<String>,
