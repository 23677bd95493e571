use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts", new = "NewPart")]
struct Part {
    #[serde(rename = "_id")]
    #[id(sequence)]
    id: String,
    name: String,
}

fn main() {}

// - id: String,
// + id: i64,
