use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[serde(rename = "name.en")]
    name: String,
}

fn main() {}

// - #[serde(rename = "name.en")]
// + #[serde(rename = "name_en")]
