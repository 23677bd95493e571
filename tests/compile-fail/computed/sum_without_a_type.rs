use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Part {
    count: i64,
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
    #[embed]
    parts: Vec<Part>,
    #[computed(parts.iter().map(|part| part.count).sum())]
    total: i64,
}

fn main() {}

// - #[computed(parts.iter().map(|part| part.count).sum())]
// + #[computed(parts.iter().map(|part| part.count).sum::<i64>())]
