use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
#[serde(tag = "$type")]
enum Size {
    Small,
    Large,
}

fn main() {}

// - #[serde(tag = "$type")]
// + #[serde(tag = "type")]
