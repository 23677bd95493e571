use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Size {
    width: i64,
    unit: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    unit: String,
    #[embed]
    #[serde(flatten)]
    size: Size,
}

fn main() {}

// - unit: String,
// - #[embed]
// + #[serde(rename = "priceUnit")]
// + unit: String,
// + #[embed]
