use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Embed)]
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
    states: Vec<State>,
    #[computed(if states.iter().cloned().max().is_some() { quantity } else { 0 })]
    total: i64,
}

fn main() {}

// - #[computed(if states.iter().cloned().max().is_some() { quantity } else { 0 })]
// + #[computed(if states.iter().any(|state| *state == State::Sent) { quantity } else { 0 })]
