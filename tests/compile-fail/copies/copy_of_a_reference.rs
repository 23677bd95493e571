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
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(child)]
    supplier: Ref<Supplier>,
}

#[derive(Serialize, Deserialize, Embed)]
struct PartLink {
    #[reference(child)]
    id: Ref<Part>,
    #[denormalize(from = "Part.supplier")]
    supplier: Ref<Supplier>,
}

fn main() {}

//   #[reference(child)]
//   id: Ref<Part>,
// - #[denormalize(from = "Part.supplier")]
// - supplier: Ref<Supplier>,
