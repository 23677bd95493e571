use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

type Parts = Vec<Ref<Part>>;

#[derive(Serialize, Deserialize, Embed)]
struct Set {
    #[reference(child)]
    parts: Parts,
    #[denormalize(from = "Part.name")]
    name: String,
}

fn main() {}

// - parts: Parts,
// + part: Ref<Part>,
