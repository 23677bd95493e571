use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[validate(min = 1, exclusive_min = 0)]
    size: i32,
}

fn main() {}

// - #[validate(min = 1, exclusive_min = 0)]
// + #[validate(exclusive_min = 0)]
