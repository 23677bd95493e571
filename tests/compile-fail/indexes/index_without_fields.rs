use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts", index(unique))]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

fn main() {}

// - #[document(collection = "parts", index(unique))]
// + #[document(collection = "parts", index(unique, fields = "name"))]
