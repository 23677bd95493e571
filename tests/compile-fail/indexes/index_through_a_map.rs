use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Money {
    value: f64,
    currency: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products", index(fields = "prices.value"))]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    prices: std::collections::BTreeMap<String, Money>,
}

fn main() {}

// - prices: std::collections::BTreeMap<String, Money>,
// + prices: Vec<Money>,
