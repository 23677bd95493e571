use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(child)]
    parts: Vec<Ref<Part>>,
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    products: Repository<Product>,
}

fn main() {}

// + parts: Repository<Part>,
//   products: Repository<Product>,
