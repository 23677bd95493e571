use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Size {
    width: i64,
    unit: String,
}

#[derive(Serialize, Deserialize, Embed)]
struct Weight {
    weight: i64,
    unit: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    #[serde(flatten)]
    size: Size,
    #[embed]
    #[serde(flatten)]
    mass: Weight,
}

fn main() {}

// - #[serde(flatten)]
// - mass: Weight,
// + mass: Weight,
