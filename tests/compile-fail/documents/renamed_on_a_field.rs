use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[renamed(from = "label")]
    title: String,
}

fn main() {}

// - #[document(collection = "parts")]
// + #[document(collection = "parts", renamed(from = "label", to = "title"))]
//
// - #[renamed(from = "label")]
