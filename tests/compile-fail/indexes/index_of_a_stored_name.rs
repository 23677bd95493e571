use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts", index(fields = "n"))]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[serde(rename = "n")]
    name: String,
}

fn main() {}

// - #[document(collection = "parts", index(fields = "n"))]
// + #[document(collection = "parts", index(fields = "name"))]
