use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Money {
    value: f64,
    currency: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    #[serde(flatten)]
    prices: Vec<Money>,
}

fn main() {}

//   #[serde(flatten)]
// - prices: Vec<Money>,
// + price: Option<Money>,
