use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[id]
    number: i64,
    name: String,
}

fn main() {}

// - #[id]
// + #[serde(rename = "_id")]
