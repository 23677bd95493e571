use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(PartialEq, PartialOrd, Serialize, Deserialize, Embed)]
enum State {
    New,
    Sent,
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
    state: State,
    #[computed(if state < State::Sent { quantity } else { 0 })]
    total: i64,
}

fn main() {}

// - #[computed(if state < State::Sent { quantity } else { 0 })]
// + #[computed(if state == State::New { quantity } else { 0 })]
