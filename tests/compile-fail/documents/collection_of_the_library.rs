use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "_odm_parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
}

fn main() {}

// - #[document(collection = "_odm_parts")]
// + #[document(collection = "odm_parts")]
