use odm::prelude::*;
use serde::{Deserialize, Serialize};

mod theirs {
    pub struct Money {
        pub value: f64,
    }
}

#[derive(Serialize, Deserialize, Embed)]
#[serde(remote = "theirs::Money")]
struct Money {
    value: f64,
}

fn main() {}

// - #[serde(remote = "theirs::Money")]
//   struct Money {
