use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Details {
    plot: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "series")]
struct Series {
    #[serde(rename = "_id")]
    id: i32,
    #[subset(limit = 3, sort = "details.plot")]
    movies: Subset<Movie>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "movies")]
struct Movie {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[reference(parent)]
    series: Ref<Series>,
    #[split(collection = "movie_details", key = "movie_id")]
    details: Cold<Details>,
}

fn main() {}

// - #[subset(limit = 3, sort = "details.plot")]
// + #[subset(limit = 3, sort = "title")]
