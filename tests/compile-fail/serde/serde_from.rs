use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Serialize, Deserialize)]
struct Pair(f64, String);

impl From<Pair> for Money {
    fn from(pair: Pair) -> Self {
        Money {
            value: pair.0,
            currency: pair.1,
        }
    }
}

#[derive(Serialize, Deserialize, Embed)]
#[serde(from = "Pair")]
struct Money {
    value: f64,
    currency: String,
}

fn main() {}

// - #[serde(from = "Pair")]
//   struct Money {
