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
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    #[denormalize(from = "Part.name")]
    id: String,
    #[reference(child)]
    part: Ref<Part>,
}

fn main() {}

//   #[serde(rename = "_id")]
// + id: String,
//   #[denormalize(from = "Part.name")]
// - id: String,
// + name: String,
