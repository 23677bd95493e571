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
enum Event {
    Sold(Ref<Part>, i64),
}

fn main() {}

// - Sold(Ref<Part>, i64),
// + Sold {
// +     #[reference(child)]
// +     part: Ref<Part>,
// +     at: i64,
// + },
