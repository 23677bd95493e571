use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

fn main() {}

// - #[document(collection = "")]
// + #[document(collection = "parts")]
