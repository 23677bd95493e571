use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[validate(min = 5, max = 4)]
    size: i32,
}

fn main() {}

// - #[validate(min = 5, max = 4)]
// + #[validate(min = 4, max = 5)]
