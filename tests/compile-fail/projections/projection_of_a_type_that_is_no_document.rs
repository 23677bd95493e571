use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Money {
    value: f64,
    currency: String,
}

#[derive(Deserialize, Projection)]
#[projection(of = "Money")]
struct Summary {
    value: f64,
}

fn main() {}

// - #[derive(Serialize, Deserialize, Embed)]
// + #[derive(Serialize, Deserialize, Document)]
// + #[document(collection = "prices")]
//   struct Money {
// +     #[serde(rename = "_id")]
// +     id: i64,
