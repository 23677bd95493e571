use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Money {
    value: f64,
    currency: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products", index(fields = "price.curency"))]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    price: Money,
}

fn main() {}

// - #[document(collection = "products", index(fields = "price.curency"))]
// + #[document(collection = "products", index(fields = "price.currency"))]
