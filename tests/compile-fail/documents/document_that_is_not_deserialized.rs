use odm::prelude::*;
use serde::Serialize;

#[derive(Serialize, Document)]
#[document(collection = "uses")]
struct Use {
    #[serde(rename = "_id")]
    id: i64,
}

fn main() {}

// - #[derive(Serialize, Document)]
// + #[derive(Serialize, serde::Deserialize, Document)]
