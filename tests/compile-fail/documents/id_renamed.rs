use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "number")]
    id: i64,
    name: String,
}

fn main() {}

// - #[serde(rename = "number")]
// + #[serde(rename = "_id")]
