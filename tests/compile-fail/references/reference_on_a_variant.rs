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
enum Subject {
    #[reference(child)]
    Part(Ref<Part>),
}

fn main() {}

// - #[reference(child)]
// - Part(Ref<Part>),
// + Part(#[reference(child)] Ref<Part>),
