use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    #[serde(with = "odm::native")]
    total: rust_decimal::Decimal,
}

#[derive(Serialize, Deserialize, Projection)]
#[projection(of = "Order")]
struct Total {
    total: rust_decimal::Decimal,
}

fn main() {}

//   struct Total {
// + #[serde(with = "odm::native")]
