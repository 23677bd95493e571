use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[count(of = "Part")]
    #[validate(min = 1)]
    parts: i64,
}

fn main() {}

// - #[count(of = "Part")]
//   #[validate(min = 1)]
