use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
enum Event {
    Sold {
        at: i64,
    },
    #[serde(skip_serializing)]
    Lost {
        at: i64,
    },
}

fn main() {}

// - #[serde(skip_serializing)]
// + #[serde(skip)]
