use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[version]
    revision: i64,
    #[version]
    edition: i64,
}

fn main() {}

// - #[version]
//   edition: i64,
