use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Serialize, Deserialize, Embed)]
struct Link {
    #[reference(child)]
    part: Ref<Part>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    parts: Vec<Link>,
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    products: Repository<Product>,
}

fn main() {}

// + parts: Repository<Part>,
//   products: Repository<Product>,
