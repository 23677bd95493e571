use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Line {
    product: String,
    quantity: i64,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    #[index]
    #[embed]
    lines: Vec<Line>,
}

fn main() {}

// - #[document(collection = "orders")]
// + #[document(collection = "orders", index(fields = "lines.product"))]
//
// - #[index]
