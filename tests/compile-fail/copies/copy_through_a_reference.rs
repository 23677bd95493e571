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
    quantity: i32,
    #[denormalize(from = "Part.supplier.name")]
    supplier: String,
}

fn main() {}

//   #[reference(child)]
//   supplier: Ref<Supplier>,
// + #[denormalize(from = "Supplier.name")]
// + supplier_name: String,
//
// - #[denormalize(from = "Part.supplier.name")]
// + #[denormalize(from = "Part.supplier_name")]
