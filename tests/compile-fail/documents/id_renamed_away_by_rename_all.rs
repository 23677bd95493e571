use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[serde(rename_all = "camelCase")]
#[document(collection = "parts")]
struct Part {
    _id: i64,
    part_name: String,
}

fn main() {}

// + #[serde(rename = "_id")]
//   _id: i64,
