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
    #[embed]
    #[split(collection = "movie_details", key = "movie_id")]
    details: Cold<Details>,
}

fn main() {}

// - #[embed]
//   #[split(collection = "movie_details", key = "movie_id")]
