use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Details {
    plot: String,
}

#[derive(Serialize, Deserialize, Embed)]
struct Outer {
    #[split(collection = "movie_details", key = "movie_id")]
    details: Cold<Details>,
}

fn main() {}

// - #[derive(Serialize, Deserialize, Embed)]
// + #[derive(Serialize, Deserialize, Document)]
// + #[document(collection = "movies")]
//   struct Outer {
// +     #[serde(rename = "_id")]
// +     id: i64,
