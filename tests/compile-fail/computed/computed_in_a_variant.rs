use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
enum Shape {
    Square(#[embed] Square),
    Rectangle {
        width: i64,
        height: i64,
        #[computed(width * height)]
        area: i64,
    },
}

#[derive(Serialize, Deserialize, Embed)]
struct Square {
    width: i64,
    #[computed(width * width)]
    area: i64,
}

fn main() {}

// - #[computed(width * height)]
// - area: i64,
