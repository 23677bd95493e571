use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct OrderText {
    body: String,
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
    #[split(collection = "texts", key = "order")]
    text: Cold<OrderText>,
    #[computed(text.body.len() as i64)]
    total: i64,
}

fn main() {}

// - #[computed(text.body.len() as i64)]
// + #[computed(name.len() as i64)]
