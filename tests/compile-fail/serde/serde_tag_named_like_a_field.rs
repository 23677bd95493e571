use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
#[serde(tag = "kind")]
struct Money {
    kind: String,
}

fn main() {}

// - #[serde(tag = "kind")]
// + #[serde(tag = "type")]
