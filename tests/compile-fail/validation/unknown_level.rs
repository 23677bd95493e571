use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts", validation(level = "lax"))]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    size: i32,
}

fn main() {}

// - #[document(collection = "parts", validation(level = "lax"))]
// + #[document(collection = "parts", validation(level = "moderate"))]
