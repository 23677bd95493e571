use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[serde(skip_serializing)]
    password: Option<String>,
}

fn main() {}

// - #[serde(skip_serializing)]
