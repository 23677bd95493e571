use odm::prelude::*;
use serde::{Deserialize, Serialize};

mod limits {
    pub const FACTOR: i64 = 3;
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    quantity: i64,
    #[computed(quantity * limits::FACTOR)]
    total: i64,
}

fn main() {}

// - #[computed(quantity * limits::FACTOR)]
// + #[computed(quantity * 3)]
