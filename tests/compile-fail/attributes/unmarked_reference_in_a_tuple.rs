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
    parts: Vec<(Ref<Part>, i32)>,
}

fn main() {}

// - parts: Vec<(Ref<Part>, i32)>,
// + #[embed]
// + parts: Vec<PartLink>,
//
//   fn main() {}
// + #[derive(Serialize, Deserialize, Embed)]
// + struct PartLink {
// +     #[reference(child)]
// +     id: Ref<Part>,
// +     quantity: i32,
// + }
