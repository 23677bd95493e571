use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[version]
    revision: i64,
}

#[derive(Serialize, Deserialize, Embed)]
struct PartLink {
    #[reference(child)]
    id: Ref<Part>,
    #[denormalize(from = "Part.revision")]
    revision: i64,
}

fn main() {}

//   revision: i64,
// + edition: i64,
//   }
//   #[derive(Serialize, Deserialize, Embed)]
//
// - #[denormalize(from = "Part.revision")]
// - revision: i64,
// + #[denormalize(from = "Part.edition")]
// + edition: i64,
