use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts", crate = "my odm")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
}

fn main() {}

// - #[document(collection = "parts", crate = "my odm")]
// + #[document(collection = "parts", crate = "odm")]
