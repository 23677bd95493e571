use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Nothing;

fn main() {}

// - struct Nothing;
// + struct Nothing {}
