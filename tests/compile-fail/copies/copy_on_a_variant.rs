use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Serialize, Deserialize, Embed)]
enum Choice {
    #[denormalize(from = "Part.name")]
    One {
        #[reference(child)]
        id: Ref<Part>,
        name: String,
    },
}

fn main() {}

// - #[denormalize(from = "Part.name")]
//   One {
//
//   id: Ref<Part>,
// + #[denormalize(from = "Part.name")]
//   name: String,
