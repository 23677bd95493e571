use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

type PartRef = Ref<Part>;

#[derive(Serialize, Deserialize, Embed)]
struct Link {
    #[reference(child)]
    id: Ref<Part>,
    #[reference(child)]
    old: PartRef,
    #[denormalize(from = "Part.name")]
    name: String,
}

fn main() {}

// - #[denormalize(from = "Part.name")]
// + #[denormalize(from = "Part.name", via = "old")]
