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
    Part(#[reference(child)] Ref<Part>, #[denormalize(from = "Part.name")] String),
}

fn main() {}

// - Part(#[reference(child)] Ref<Part>, #[denormalize(from = "Part.name")] String),
// + Part {
// +     #[reference(child)]
// +     id: Ref<Part>,
// +     #[denormalize(from = "Part.name")]
// +     name: String,
// + },
