use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
enum State {
    #[serde(alias = "Started")]
    Open,
    Done,
}

fn main() {}

// - #[serde(alias = "Started")]
