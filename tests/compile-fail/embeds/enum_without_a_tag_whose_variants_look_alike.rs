use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
#[serde(untagged)]
enum Size {
    Square { width: i64 },
    Rectangle { width: i64, height: i64 },
}

fn main() {}

// - Square { width: i64 },
// - Rectangle { width: i64, height: i64 },
// + Rectangle { width: i64, height: i64 },
// + Square { width: i64 },
