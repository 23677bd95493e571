use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[version]
    revision: Option<i64>,
}

fn main() {}

// - revision: Option<i64>,
// + revision: i64,
