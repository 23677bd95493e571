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
    parts: Vec<Ref<Part>>,
    #[denormalize(from = "Part.name")]
    names: Vec<String>,
}

fn main() {}

// - #[reference(child)]
// - parts: Vec<Ref<Part>>,
// - #[denormalize(from = "Part.name")]
// - names: Vec<String>,
// + #[embed]
// + parts: Vec<PartLink>,
//
//   fn main() {}
// + #[derive(Serialize, Deserialize, Embed)]
// + struct PartLink {
// +     #[reference(child)]
// +     id: Ref<Part>,
// +     #[denormalize(from = "Part.name")]
// +     name: String,
// + }
