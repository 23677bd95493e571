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
struct PartLink {
    #[reference(child)]
    id: Ref<Part>,
    #[index]
    #[denormalize(from = "Part.name")]
    name: String,
}

fn main() {}

// - #[index]
//   #[denormalize(from = "Part.name")]
//
//   fn main() {}
// + #[derive(Serialize, Deserialize, Document)]
// + #[document(collection = "uses", index(fields = "part.name"))]
// + struct Use {
// +     #[serde(rename = "_id")]
// +     id: i64,
// +     #[embed]
// +     part: PartLink,
// + }
