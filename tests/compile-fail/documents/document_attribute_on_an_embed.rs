use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
#[document(collection = "money")]
struct Money {
    value: f64,
}

fn main() {}

// - #[document(collection = "money")]
//   struct Money {
