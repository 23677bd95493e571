use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts", new = "NewPart")]
struct Part {
    #[serde(rename = "_id")]
    #[id(auto)]
    id: i64,
}

fn main() {}

// - id: i64,
// + id: ObjectId,
