use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[validate(pattern = "^([a-z]+-\\d+$")]
    name: String,
    #[validate(pattern = "a\0b")]
    code: String,
}

fn main() {}

// - #[validate(pattern = "^([a-z]+-\\d+$")]
// + #[validate(pattern = "^[a-z]+-\\d+$")]
//
// - #[validate(pattern = "a\0b")]
// + #[validate(pattern = "ab")]
