use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Money {
    #[version]
    revision: i64,
}

fn main() {}

// - #[version]
//   revision: i64,
