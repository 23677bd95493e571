use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    #[serde(rename = "name")]
    title: String,
}

fn main() {}

// - #[serde(rename = "name")]
//   title: String,
