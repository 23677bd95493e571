use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id", skip_serializing)]
    id: i64,
}

fn main() {}

// - #[serde(rename = "_id", skip_serializing)]
// + #[serde(rename = "_id")]
