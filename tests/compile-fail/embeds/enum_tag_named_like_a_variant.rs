use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
#[serde(tag = "circle")]
enum Shape {
    Circle { radius: f64 },
}

fn main() {}

// - #[serde(tag = "circle")]
// + #[serde(tag = "kind")]
