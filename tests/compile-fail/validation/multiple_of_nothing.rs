use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[validate(multiple_of = 0)]
    size: i32,
}

fn main() {}

// - #[validate(multiple_of = 0)]
// + #[validate(multiple_of = 5)]
