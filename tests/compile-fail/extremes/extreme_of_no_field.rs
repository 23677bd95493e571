use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    #[max(via = "order")]
    last: Option<i64>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "lines")]
struct Line {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    order: Ref<Order>,
    price: i64,
}

fn main() {}

// - #[max(via = "order")]
// + #[max(of = "Line.price", via = "order")]
