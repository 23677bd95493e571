use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
enum Size {
    #[serde(rename = "small")]
    Tiny,
    #[serde(rename = "small")]
    Small,
}

fn main() {}

// - #[serde(rename = "small")]
// - Tiny,
// + #[serde(rename = "tiny")]
// + Tiny,
