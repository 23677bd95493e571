use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    #[sum(of = "Line.cents", recompute)]
    total: i64,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "lines")]
struct Line {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    order: Ref<Order>,
    cents: i64,
}

fn main() {}

// - #[sum(of = "Line.cents", recompute)]
// + #[sum(of = "Line.cents")]
