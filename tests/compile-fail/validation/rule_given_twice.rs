use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[validate(min = 1, min = 2)]
    size: i32,
}

fn main() {}

// - #[validate(min = 1, min = 2)]
// + #[validate(min = 2)]
