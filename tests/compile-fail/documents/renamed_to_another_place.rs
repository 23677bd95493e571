use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts", renamed(from = "size.width", to = "width"))]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    width: i64,
}

fn main() {}

// - #[document(collection = "parts", renamed(from = "size.width", to = "width"))]
// + #[document(collection = "parts", renamed(from = "breadth", to = "width"))]
