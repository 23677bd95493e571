use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    net: i64,
    #[computed(gross - net)]
    tax: i64,
    #[computed(net + tax)]
    gross: i64,
}

#[derive(Database)]
#[database(name = "sales", version = 1)]
struct Sales {
    orders: Repository<Order>,
}

fn main() {}

// - #[computed(gross - net)]
// + #[computed(net / 5)]
