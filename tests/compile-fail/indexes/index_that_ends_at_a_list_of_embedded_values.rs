use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Line {
    product: String,
    quantity: i64,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "orders", index(fields = "customer, lines"))]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    customer: String,
    #[embed]
    lines: Option<Vec<Line>>,
}

fn main() {}

// - #[document(collection = "orders", index(fields = "customer, lines"))]
// + #[document(collection = "orders", index(fields = "customer, lines.product"))]
