use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
#[allow(non_camel_case_types, reason = "a rule is tried on such names")]
enum Shape {
    RoundThing { radius: f64 },
    round_thing { side: f64 },
}

fn main() {}

// - round_thing { side: f64 },
// + square_thing { side: f64 },
