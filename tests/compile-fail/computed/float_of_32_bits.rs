use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    quantity: i64,
    rate: f32,
    #[computed(quantity > 0 && rate > 0.5)]
    total: bool,
}

fn main() {}

// - #[computed(quantity > 0 && rate > 0.5)]
// + #[computed(quantity > 0 && rate as f64 > 0.5)]
