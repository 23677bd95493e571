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
    #[denormalize(from = "Part.name", fan_out = "background")]
    name: String,
}

fn main() {}

// - #[denormalize(from = "Part.name", fan_out = "background")]
// + #[denormalize(from = "Part.name", refresh = "later")]
