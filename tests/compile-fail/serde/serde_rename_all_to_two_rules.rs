use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[serde(rename_all(serialize = "camelCase"))]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

fn main() {}

// - #[serde(rename_all(serialize = "camelCase"))]
// + #[serde(rename_all = "camelCase")]
