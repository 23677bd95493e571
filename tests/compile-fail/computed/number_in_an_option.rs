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
    #[computed(quantity - discount)]
    total: i64,
}

fn main() {}

// - #[computed(quantity - discount)]
// + #[computed(quantity - discount.unwrap_or(0))]
