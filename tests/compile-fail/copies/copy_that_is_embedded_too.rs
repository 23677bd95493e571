use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Money {
    currency: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    price: Money,
}

#[derive(Serialize, Deserialize, Embed)]
struct PartLink {
    #[reference(child)]
    id: Ref<Part>,
    #[embed]
    #[denormalize(from = "Part.price")]
    price: Money,
}

fn main() {}

// - #[derive(Serialize, Deserialize, Embed)]
// + #[derive(Clone, Serialize, Deserialize, Embed)]
//   struct Money {
//
// - #[embed]
//   #[denormalize(from = "Part.price")]
