use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts", new = "NewPart")]
struct Part {
    #[serde(rename = "_id")]
    #[id(auto, sequence)]
    id: i64,
    name: String,
}

fn main() {}

// - #[id(auto, sequence)]
// + #[id(sequence)]
