use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    quantity: i64,
    price: f64,
    discount: Option<i64>,
    name: String,
    #[computed(quantity.pow(2))]
    total: i64,
}

fn main() {}

// - #[computed(quantity.pow(2))]
// + #[computed(quantity * quantity)]
