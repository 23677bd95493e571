use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Details {
    plot: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "movies", index(fields = "title, details.plot"))]
struct Movie {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[split(collection = "movie_details", key = "movie_id")]
    details: Cold<Details>,
}

fn main() {}

// - #[document(collection = "movies", index(fields = "title, details.plot"))]
// + #[document(collection = "movies", index(fields = "title"), index(fields = "details.plot"))]
