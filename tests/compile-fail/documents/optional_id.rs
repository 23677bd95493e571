use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: Option<ObjectId>,
}

fn main() {}

// - id: Option<ObjectId>,
// + id: ObjectId,
