use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts", renamed(from = "votes"))]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    ratings: i64,
}

fn main() {}

// - #[document(collection = "parts", renamed(from = "votes"))]
// + #[document(collection = "parts", renamed(from = "votes", to = "ratings"))]
