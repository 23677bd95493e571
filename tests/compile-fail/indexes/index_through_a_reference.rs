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
#[document(collection = "products", index(fields = "part.name"))]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(child)]
    part: Ref<Part>,
}

fn main() {}

// - #[document(collection = "parts")]
// + #[document(collection = "parts", index(fields = "name"))]
//
// - #[document(collection = "products", index(fields = "part.name"))]
// + #[document(collection = "products", index(fields = "part"))]
