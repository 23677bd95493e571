use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    #[sum(of = "Line.prices.cents")]
    total: i64,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "lines")]
struct Line {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    order: Ref<Order>,
    #[embed]
    prices: Vec<Price>,
}

#[derive(Serialize, Deserialize, Embed)]
struct Price {
    cents: i64,
}

fn main() {}

// - prices: Vec<Price>,
// + prices: Option<Price>,
