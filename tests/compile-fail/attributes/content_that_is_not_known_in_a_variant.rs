use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Plain {
    value: i64,
}

#[derive(Serialize, Deserialize, Embed)]
enum Use {
    One(Plain),
    Two(i32, Plain),
}

fn main() {}

// - One(Plain),
// - Two(i32, Plain),
// + One(#[opaque] Plain),
// + Two(i32, #[opaque] Plain),
