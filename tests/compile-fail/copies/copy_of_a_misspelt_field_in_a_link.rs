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
struct PartLink {
    #[reference(child)]
    id: Ref<Part>,
    #[denormalize(from = "Part.nme")]
    name: String,
}

fn main() {}

// - #[denormalize(from = "Part.nme")]
// + #[denormalize(from = "Part.name")]
