use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[validate(one_of("a", 1))]
    name: String,
}

fn main() {}

// - #[validate(one_of("a", 1))]
// + #[validate(one_of("a", "b"))]
