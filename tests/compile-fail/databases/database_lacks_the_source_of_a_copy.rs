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
    #[denormalize(from = "Product.name", via = "Product.parts")]
    products: Vec<String>,
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    parts: Repository<Part>,
}

fn main() {}

//   parts: Repository<Part>,
// + products: Repository<Product>,
// + suppliers: Repository<Supplier>,
