use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Money {
    value: f64,
    currency: String,
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    prices: Repository<Money>,
}

fn main() {}

// - #[derive(Serialize, Deserialize, Embed)]
// + #[derive(Serialize, Deserialize, Document)]
// + #[document(collection = "prices")]
//   struct Money {
// +     #[serde(rename = "_id")]
// +     id: i64,
