use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    #[index(unique)]
    id: i64,
}

fn main() {}

// - #[index(unique)]
//   id: i64,
