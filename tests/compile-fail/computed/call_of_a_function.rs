use odm::prelude::*;
use serde::{Deserialize, Serialize};

fn net(gross: i64) -> i64 {
    gross - gross / 5
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    quantity: i64,
    price: f64,
    discount: Option<i64>,
    name: String,
    #[computed(net(quantity))]
    total: i64,
}

fn main() {}

// - #[computed(net(quantity))]
// + #[computed(quantity - quantity / 5)]
