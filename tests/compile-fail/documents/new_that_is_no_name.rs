use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts", new = "new part")]
struct Part {
    #[serde(rename = "_id")]
    id: ObjectId,
    name: String,
}

fn main() {}

// - #[document(collection = "parts", new = "new part")]
// + #[document(collection = "parts", new = "NewPart")]
