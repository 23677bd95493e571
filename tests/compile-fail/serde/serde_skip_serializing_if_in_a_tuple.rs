use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
enum Size {
    Flat(#[serde(skip_serializing_if = "Option::is_none")] Option<i64>, i64),
    Unknown,
}

fn main() {}

// - Flat(#[serde(skip_serializing_if = "Option::is_none")] Option<i64>, i64),
// + Flat(Option<i64>, i64),
