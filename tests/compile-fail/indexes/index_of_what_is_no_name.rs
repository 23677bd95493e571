use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts", index(fields = "name desc"))]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

fn main() {}

// - #[document(collection = "parts", index(fields = "name desc"))]
// + #[document(collection = "parts", index(fields = "-name"))]
