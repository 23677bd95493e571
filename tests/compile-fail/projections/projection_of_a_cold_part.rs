use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Details {
    plot: String,
}

#[derive(Deserialize, Projection)]
#[projection(of = "Movie")]
struct Summary {
    title: String,
    details: Cold<Details>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "movies")]
struct Movie {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[split(collection = "movie_details", key = "movie_id")]
    details: Cold<Details>,
}

fn main() {}

//   title: String,
// - details: Cold<Details>,
