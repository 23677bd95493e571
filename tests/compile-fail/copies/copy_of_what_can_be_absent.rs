use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Money {
    currency: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    price: Option<Money>,
}

#[derive(Serialize, Deserialize, Embed)]
struct PartLink {
    #[reference(child)]
    id: Ref<Part>,
    quantity: i32,
    #[denormalize(from = "Part.price.currency")]
    currency: String,
}

fn main() {}

//   #[denormalize(from = "Part.price.currency")]
// - currency: String,
// + currency: Option<String>,
