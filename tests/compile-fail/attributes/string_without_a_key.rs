use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document("uses")]
struct Use {
    #[serde(rename = "_id")]
    id: i64,
    #[reference("child")]
    part: Ref<Part>,
    #[denormalize("Part.name")]
    name: String,
    #[count("Part")]
    count: i64,
}

fn main() {}

// - #[document("uses")]
// + #[document(collection = "uses")]
//
// - #[reference("child")]
// + #[reference(child)]
//
// - #[denormalize("Part.name")]
// + #[denormalize(from = "Part.name")]
//
// - #[count("Part")]
// + #[count(of = "Log")]
//
//   fn main() {}
// + #[derive(Serialize, Deserialize, Document)]
// + #[document(collection = "logs")]
// + struct Log {
// +     #[serde(rename = "_id")]
// +     id: i64,
// +     #[reference(parent)]
// +     of: Ref<Use>,
// + }
