use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Money {
    value: f64,
    currency: String,
}

#[derive(Serialize, Deserialize, Embed)]
#[serde(deny_unknown_fields)]
struct Price {
    #[embed]
    #[serde(flatten)]
    money: Money,
}

fn main() {}

// - #[serde(deny_unknown_fields)]
//   struct Price {
