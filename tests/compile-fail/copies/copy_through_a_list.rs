use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Price {
    currency: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    prices: Vec<Price>,
}

#[derive(Serialize, Deserialize, Embed)]
struct PartLink {
    #[reference(child)]
    id: Ref<Part>,
    quantity: i32,
    #[denormalize(from = "Part.prices.currency")]
    currency: String,
}

fn main() {}

// - #[denormalize(from = "Part.prices.currency")]
// - currency: String,
// + #[denormalize(from = "Part.prices")]
// + prices: Vec<Price>,
//
// - #[derive(Serialize, Deserialize, Embed)]
// + #[derive(Clone, Serialize, Deserialize, Embed)]
//   struct Price {
