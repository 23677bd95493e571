use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Money {
    value: f64,
    currency: String,
}

#[derive(Serialize, Deserialize, Embed)]
enum Event {
    Sold(#[embed] Money, i64),
}

fn main() {}

// - Sold(#[embed] Money, i64),
// + Sold {
// +     #[embed]
// +     price: Money,
// +     at: i64,
// + },
