use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    #[sum(of = "Line.weight")]
    weight: f64,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "lines")]
struct Line {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    order: Ref<Order>,
    weight: f64,
}

fn main() {}

// - #[sum(of = "Line.weight")]
// + #[sum(of = "Line.weight", recompute)]
