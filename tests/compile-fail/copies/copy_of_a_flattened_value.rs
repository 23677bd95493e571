use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Serialize, Deserialize, Embed)]
struct Money {
    value: f64,
    currency: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    #[serde(flatten)]
    price: Money,
}

#[derive(Serialize, Deserialize, Embed)]
struct PartLink {
    #[reference(child)]
    id: Ref<Part>,
    quantity: i32,
    #[denormalize(from = "Part.price")]
    price: Money,
}

fn main() {}

// - #[denormalize(from = "Part.price")]
// - price: Money,
// + #[denormalize(from = "Part.price.value")]
// + value: f64,
