use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[validate(min_length = -1)]
    name: String,
}

fn main() {}

// - #[validate(min_length = -1)]
// + #[validate(min_length = 1)]
