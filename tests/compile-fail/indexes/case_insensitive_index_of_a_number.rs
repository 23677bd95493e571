use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[index(case_insensitive)]
    size: i64,
}

fn main() {}

// - #[index(case_insensitive)]
// + #[index]
