use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    #[id(auto)]
    id: ObjectId,
}

fn main() {}

// - #[document(collection = "parts")]
// + #[document(collection = "parts", new = "NewPart")]
