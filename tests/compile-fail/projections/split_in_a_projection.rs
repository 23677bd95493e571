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

#[derive(Deserialize, Projection)]
#[projection(of = "Movie")]
struct Brief {
    title: String,
    #[split(collection = "movie_details", key = "movie")]
    details: Cold<Details>,
}

fn main() {}

//   title: String,
// - #[split(collection = "movie_details", key = "movie")]
// - details: Cold<Details>,
//   }
//   fn main() {}
