use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(colection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
}

fn main() {}

// - #[document(colection = "parts")]
// + #[document(collection = "parts")]
