use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[serde(alias = "title")]
    name: String,
}

fn main() {}

// - #[serde(alias = "title")]
