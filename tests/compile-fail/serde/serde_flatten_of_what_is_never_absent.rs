use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Size {
    width: Option<i64>,
    height: Option<i64>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    #[serde(flatten)]
    size: Option<Size>,
}

fn main() {}

// - size: Option<Size>,
// + size: Size,
