use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(child)]
    #[serde(alias = "component")]
    part: Ref<Part>,
}

fn main() {}

// - #[serde(alias = "component")]
//   part: Ref<Part>,
