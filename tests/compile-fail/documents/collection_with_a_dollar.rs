use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "part$s")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

fn main() {}

// - #[document(collection = "part$s")]
// + #[document(collection = "parts")]
