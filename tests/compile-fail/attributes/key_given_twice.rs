use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts", collection = "part")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
}

fn main() {}

// - #[document(collection = "parts", collection = "part")]
// + #[document(collection = "parts")]
