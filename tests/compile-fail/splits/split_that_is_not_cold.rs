use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Details {
    plot: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "movies")]
struct Movie {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[split(collection = "movie_details", key = "movie_id")]
    details: Details,
}

fn main() {}

// - details: Details,
// + details: Cold<Details>,
