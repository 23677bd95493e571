use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "number")]
    _id: i64,
    name: String,
}

fn main() {}

// - #[serde(rename = "number")]
//   _id: i64,
