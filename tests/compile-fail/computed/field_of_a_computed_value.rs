use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Part {
    #[embed]
    size: Size,
}

#[derive(Clone, Serialize, Deserialize, Embed)]
struct Size {
    width: i64,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    quantity: i64,
    price: f64,
    discount: Option<i64>,
    name: String,
    #[embed]
    parts: Vec<Part>,
    #[computed(parts.iter().map(|part| part.size).filter(|size| size.width > 1).count() as i64)]
    total: i64,
}

fn main() {}

// - #[computed(parts.iter().map(|part| part.size).filter(|size| size.width > 1).count() as i64)]
// + #[computed(parts.iter().filter(|part| part.size.width > 1).count() as i64)]
