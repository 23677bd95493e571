use odm::prelude::*;
use serde::{Deserialize, Serialize};

fn one() -> Option<i64> {
    Some(1)
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[serde(default = "one", skip_serializing_if = "Option::is_none")]
    stock: Option<i64>,
}

fn main() {}

// - #[serde(default = "one", skip_serializing_if = "Option::is_none")]
// + #[serde(default = "one")]
