use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts", new = "NewPart")]
struct Part {
    #[serde(rename = "_id")]
    id: ObjectId,
    #[id(auto)]
    number: ObjectId,
}

fn main() {}

// - #[id(auto)]
//   number: ObjectId,
