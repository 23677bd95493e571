use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Embed)]
struct Of {
    #[reference(child)]
    to: Ref<Part>,
}

#[derive(Serialize, Deserialize)]
struct Other {
    to: i32,
}

#[derive(Serialize, Deserialize, Embed)]
#[serde(tag = "kind")]
enum Target {
    Part(#[embed] Of),
    Other(Other),
}

fn main() {}

// - #[derive(Serialize, Deserialize)]
// + #[derive(Serialize, Deserialize, Embed)]
//   struct Other {
//
// - to: i32,
// + number: i32,
//
// - Other(Other),
// + Other(#[embed] Other),
