use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize, Embed)]
struct Size {
    width: i64,
}

fn is_nothing(size: &Size) -> bool {
    size.width == 0
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    #[serde(flatten, default, skip_serializing_if = "is_nothing")]
    size: Size,
}

fn main() {}

// - #[serde(flatten, default, skip_serializing_if = "is_nothing")]
// + #[serde(flatten)]
