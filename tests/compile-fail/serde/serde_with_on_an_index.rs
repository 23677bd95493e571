use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts", index(fields = "name"))]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[serde(serialize_with = "String::serialize", deserialize_with = "String::deserialize")]
    name: String,
}

fn main() {}

// - #[serde(serialize_with = "String::serialize", deserialize_with = "String::deserialize")]
//   name: String,
