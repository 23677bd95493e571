use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts", validation(action = "fail"))]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    size: i32,
}

fn main() {}

// - #[document(collection = "parts", validation(action = "fail"))]
// + #[document(collection = "parts", validation(action = "error"))]
