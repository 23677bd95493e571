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
    id: i64,
    title: String,
    #[split(collection = "movie_details", key = "movie")]
    details: Cold<Details>,
}

#[derive(Serialize, Deserialize, Embed)]
struct MovieLink {
    #[reference(child)]
    id: Ref<Movie>,
    stars: i32,
    #[denormalize(from = "Movie.details.plot")]
    plot: String,
}

fn main() {}

// - #[denormalize(from = "Movie.details.plot")]
// - plot: String,
// + #[denormalize(from = "Movie.title")]
// + title: String,
