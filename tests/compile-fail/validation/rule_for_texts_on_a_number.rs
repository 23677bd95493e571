use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[validate(max_length = 10)]
    size: i32,
}

fn main() {}

// - #[validate(max_length = 10)]
// + #[validate(max = 10)]
