use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id", skip)]
    id: i64,
    name: String,
}

fn main() {}

// - #[serde(rename = "_id", skip)]
// + #[serde(rename = "_id")]
