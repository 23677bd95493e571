use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[serde(skip_deserializing)]
    cached: i64,
}

fn main() {}

// - #[serde(skip_deserializing)]
// + #[serde(skip)]
