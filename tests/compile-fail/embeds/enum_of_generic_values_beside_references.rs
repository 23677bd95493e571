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
struct To {
    #[reference(child)]
    to: Ref<Part>,
}

#[derive(Serialize, Deserialize)]
struct Other {
    number: i32,
}

#[derive(Serialize, Deserialize, Embed)]
#[serde(tag = "kind")]
enum Target {
    Part(#[embed] To),
    Other(#[opaque] Other),
}

fn main() {}

// - #[derive(Serialize, Deserialize)]
// + #[derive(Serialize, Deserialize, Embed)]
//   struct Other {
//
// - Other(#[opaque] Other),
// + Other(#[embed] Other),
