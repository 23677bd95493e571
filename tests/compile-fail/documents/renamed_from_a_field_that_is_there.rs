use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts", renamed(from = "votes", to = "ratings"))]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    ratings: i64,
    votes: i64,
}

fn main() {}

// - #[document(collection = "parts", renamed(from = "votes", to = "ratings"))]
// + #[document(collection = "parts", renamed(from = "marks", to = "ratings"))]
