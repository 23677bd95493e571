use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    qty: i32,
}

#[derive(Serialize, Deserialize, Embed)]
struct PartLink {
    #[reference(child)]
    id: Ref<Part>,
    #[denormalize(from = "Part.name")]
    #[serde(default, skip_serializing_if = "String::is_empty")]
    name: String,
}

fn main() {}

// - #[serde(default, skip_serializing_if = "String::is_empty")]
// + #[serde(default)]
