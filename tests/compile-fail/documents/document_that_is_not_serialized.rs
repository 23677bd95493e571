use odm::prelude::*;
use serde::Deserialize;

#[derive(Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
}

fn main() {}

// - #[derive(Deserialize, Document)]
// + #[derive(serde::Serialize, Deserialize, Document)]
