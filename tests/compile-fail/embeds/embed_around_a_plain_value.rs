use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Number(i64);

fn main() {}

// - struct Number(i64);
// + struct Number {
// +     value: i64,
// + }
