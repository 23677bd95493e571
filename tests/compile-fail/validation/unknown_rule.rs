use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[validate(minimum = 1)]
    size: i32,
}

fn main() {}

// - #[validate(minimum = 1)]
// + #[validate(min = 1)]
