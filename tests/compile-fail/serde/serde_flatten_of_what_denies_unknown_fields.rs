use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
#[serde(deny_unknown_fields)]
struct Size {
    width: i64,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    #[serde(flatten)]
    size: Size,
}

fn main() {}

// - #[serde(deny_unknown_fields)]
