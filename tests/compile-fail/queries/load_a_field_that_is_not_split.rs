use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "movies")]
struct Movie {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
}

async fn read(movies: Repository<Movie>) -> odm::Result<Movie> {
    movies.get(1).with(Movie::fields().title).await
}

fn main() {}

// - movies.get(1).with(Movie::fields().title).await
// + movies.get(1).await
