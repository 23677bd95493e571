use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Money {
    value: f64,
    currency: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[index]
    #[embed]
    #[serde(flatten)]
    price: Money,
}

fn main() {}

// - #[document(collection = "parts")]
// + #[document(collection = "parts", index(fields = "price.value"))]
//
// - #[index]
//   #[embed]
