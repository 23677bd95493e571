use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
}

#[derive(Serialize, Deserialize, Embed)]
struct PartLink {
    #[reference(child)]
    #[serde(rename = "0")]
    part: Ref<Part>,
}

fn main() {}

// - #[serde(rename = "0")]
// + #[serde(rename = "p0")]
