use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Money {
    value: f64,
    currency: String,
}

#[derive(Serialize, Deserialize, Embed)]
struct Offer {
    #[embed]
    #[serde(flatten)]
    price: Money,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts", index(fields = "offer.price"))]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    offer: Offer,
}

fn main() {}

// - #[document(collection = "parts", index(fields = "offer.price"))]
// + #[document(collection = "parts", index(fields = "offer.price.value"))]
