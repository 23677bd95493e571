use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
enum Part {
    Bolt { id: i64 },
}

fn main() {}

// - #[derive(Serialize, Deserialize, Document)]
// - #[document(collection = "parts")]
// - enum Part {
// + #[derive(Serialize, Deserialize, Embed)]
// + enum Kind {
//
//   fn main() {}
// + #[derive(Serialize, Deserialize, Document)]
// + #[document(collection = "parts")]
// + struct Part {
// +     #[serde(rename = "_id")]
// +     id: i64,
// +     #[embed]
// +     kind: Kind,
// + }
