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
#[serde(transparent)]
struct Link {
    #[reference(child)]
    part: Ref<Part>,
}

fn main() {}

// - #[serde(transparent)]
//   struct Link {
