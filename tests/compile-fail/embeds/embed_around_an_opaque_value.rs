use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Foreign(i64);

#[derive(Serialize, Deserialize, Embed)]
struct Number(#[opaque] Foreign);

fn main() {}

// - #[derive(Serialize, Deserialize, Embed)]
// - struct Number(#[opaque] Foreign);
// + #[derive(Serialize, Deserialize)]
// + struct Number(Foreign);
