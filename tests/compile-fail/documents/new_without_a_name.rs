use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts", new(derive(Debug)))]
struct Part {
    #[serde(rename = "_id")]
    id: ObjectId,
    name: String,
}

fn main() {}

// - #[document(collection = "parts", new(derive(Debug)))]
// + #[document(collection = "parts", new(name = "NewPart", derive(Debug)))]
