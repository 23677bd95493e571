use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts", index(fields = "id"))]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

fn main() {}

// - #[document(collection = "parts", index(fields = "id"))]
// + #[document(collection = "parts", index(fields = "name, id"))]
