use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document = "parts"]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
}

fn main() {}

// - #[document = "parts"]
// + #[document(collection = "parts")]
