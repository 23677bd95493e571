use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
#[serde(untagged)]
enum Answer {
    Unknown,
    Refused,
}

fn main() {}

// - #[serde(untagged)]
// + #[serde(tag = "type")]
