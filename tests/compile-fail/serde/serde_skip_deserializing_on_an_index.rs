use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[index]
    #[serde(skip_deserializing)]
    name: String,
}

fn main() {}

// - #[serde(skip_deserializing)]
//   name: String,
