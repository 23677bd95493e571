use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts", new = "NewPart")]
struct Part<T> {
    #[serde(rename = "_id")]
    id: ObjectId,
    #[embed]
    value: T,
}

fn main() {}

// - #[document(collection = "parts", new = "NewPart")]
// + #[document(collection = "parts")]
