use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[serde(deny_unknown_fields)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
}

fn main() {}

// - #[serde(deny_unknown_fields)]
//   #[document(collection = "parts")]
