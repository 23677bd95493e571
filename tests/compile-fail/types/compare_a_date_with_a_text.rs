use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    #[serde(with = "odm::native")]
    created: chrono::DateTime<chrono::Utc>,
}

fn after(start: chrono::DateTime<chrono::Utc>) -> Filter<Order> {
    Order::fields().created.gt(start.timestamp())
}

fn main() {}

// - Order::fields().created.gt(start.timestamp())
// + Order::fields().created.gt(start)
