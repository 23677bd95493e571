use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
#[serde(tag = "type", deny_unknown_fields)]
struct Size {
    width: i64,
}

fn main() {}

// - #[serde(tag = "type", deny_unknown_fields)]
// + #[serde(tag = "type")]
