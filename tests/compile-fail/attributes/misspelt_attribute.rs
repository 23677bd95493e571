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
#[document(collection = "uses")]
struct Use {
    #[serde(rename = "_id")]
    id: i64,
    #[refrence(child)]
    part: Ref<Part>,
}

fn main() {}

// - #[refrence(child)]
// + #[reference(child)]
