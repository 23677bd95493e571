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
    id: i64,
    #[reference(child)]
    best: Option<Ref<Part>>,
    #[denormalize(from = "Part.name")]
    best_name: String,
}

fn main() {}

// - best_name: String,
// + best_name: Option<String>,
