use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    id: i64,
    name: String,
}

fn main() {}

// + #[serde(rename = "_id")]
//   id: i64,
