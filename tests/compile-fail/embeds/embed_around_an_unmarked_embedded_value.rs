use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Money {
    cents: i64,
}

#[derive(Serialize, Deserialize, Embed)]
struct Price(Money);

fn main() {}

// - struct Price(Money);
// + struct Price(#[embed] Money);
