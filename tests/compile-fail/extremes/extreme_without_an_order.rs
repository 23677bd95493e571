use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    #[max(of = "Line.tags")]
    last: Option<Vec<String>>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "lines")]
struct Line {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    order: Ref<Order>,
    tags: Vec<String>,
}

fn main() {}

// - #[max(of = "Line.tags")]
// - last: Option<Vec<String>>,
// + #[max(of = "Line.id")]
// + last: Option<i64>,
