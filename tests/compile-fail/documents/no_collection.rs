use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
}

fn main() {}

// + #[document(collection = "parts")]
//   struct Part {
