use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id", skip_serializing_if = "String::is_empty")]
    id: String,
}

fn main() {}

// - #[serde(rename = "_id", skip_serializing_if = "String::is_empty")]
// + #[serde(rename = "_id")]
