use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Money {
    value: f64,
    #[index]
    currency: String,
}

fn main() {}

// - #[index]
//   currency: String,
//
//   fn main() {}
// + #[derive(Serialize, Deserialize, Document)]
// + #[document(collection = "products", index(fields = "price.currency"))]
// + struct Product {
// +     #[serde(rename = "_id")]
// +     id: i64,
// +     #[embed]
// +     price: Money,
// + }
