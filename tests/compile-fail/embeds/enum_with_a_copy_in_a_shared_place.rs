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
#[serde(tag = "kind")]
enum Choice {
    Part {
        #[reference(child)]
        id: Ref<Part>,
        #[denormalize(from = "Part.name")]
        name: String,
    },
    Other {
        name: String,
    },
}

fn main() {}

//   Other {
// -     name: String,
// +     other: String,
