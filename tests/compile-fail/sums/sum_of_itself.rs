use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    #[sum(of = "Line.order_total")]
    total: i64,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "lines")]
struct Line {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    order: Ref<Order>,
    #[denormalize(from = "Order.total")]
    order_total: i64,
    cents: i64,
}

#[derive(Database)]
#[database(name = "sales", version = 1)]
struct Sales {
    orders: Repository<Order>,
    lines: Repository<Line>,
}

fn main() {}

// - #[sum(of = "Line.order_total")]
// + #[sum(of = "Line.cents")]
