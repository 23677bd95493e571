use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[validate(min)]
    size: i32,
}

fn main() {}

// - #[validate(min)]
// + #[validate(min = 1)]
