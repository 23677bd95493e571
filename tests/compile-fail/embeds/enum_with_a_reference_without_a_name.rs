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
#[serde(untagged)]
enum Subject {
    Part(#[reference(child)] Ref<Part>),
    Text(String),
}

fn main() {}

// - Part(#[reference(child)] Ref<Part>),
// + Part {
// +     #[reference(child)]
// +     id: Ref<Part>,
// + },
