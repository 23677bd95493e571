use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[serde(flatten)]
    more: std::collections::HashMap<String, i64>,
}

fn main() {}

// - #[serde(flatten)]
//   more: std::collections::HashMap<String, i64>,
