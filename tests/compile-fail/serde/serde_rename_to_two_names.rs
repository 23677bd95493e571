use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[serde(rename(serialize = "n", deserialize = "name"))]
    name: String,
}

fn main() {}

// - #[serde(rename(serialize = "n", deserialize = "name"))]
// + #[serde(rename = "n")]
