use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    #[sum(of = "Line.cents")]
    total: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "lines")]
struct Line {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    order: Ref<Order>,
    cents: i32,
}

fn main() {}

// - total: i32,
// + total: i64,
