use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[serde(rename = "$name")]
    name: String,
}

fn main() {}

// - #[serde(rename = "$name")]
// + #[serde(rename = "name")]
