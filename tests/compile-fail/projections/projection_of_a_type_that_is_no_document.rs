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
