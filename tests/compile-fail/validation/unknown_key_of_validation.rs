use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts", validation(strict))]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    size: i32,
}

fn main() {}

// - #[document(collection = "parts", validation(strict))]
// + #[document(collection = "parts", validation(level = "strict"))]
