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

async fn run(movies: Repository<Movie>, mut movie: Movie) -> odm::Result<()> {
    let found = movies.load(&mut movie, Movie::fields().title).await?;
    drop(found);
    Ok(())
}

fn main() {}

// - let found = movies.load(&mut movie, Movie::fields().title).await?;
// + let found = movies.load(&mut movie, Movie::fields().details).await?;
