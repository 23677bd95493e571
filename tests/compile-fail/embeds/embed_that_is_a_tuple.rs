use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Point(f64, f64);

fn main() {}

// - struct Point(f64, f64);
// + struct Point {
// +     x: f64,
// +     y: f64,
// + }
