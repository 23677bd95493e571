use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "stars")]
struct Star {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Embed)]
struct Details {
    #[reference(child)]
    star: Ref<Star>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "movies")]
struct Movie {
    #[serde(rename = "_id")]
    id: i32,
    #[split(collection = "movie_details", key = "movie_id")]
    details: Cold<Details>,
}

async fn read(movies: Repository<Movie>) -> odm::Result<()> {
    movies.all().join(Movie::fields().details.star).await.map(drop)
}

fn main() {}

// - async fn read(movies: Repository<Movie>) -> odm::Result<()> {
// -     movies.all().join(Movie::fields().details.star).await.map(drop)
// + async fn read(movies: Repository<Movie>) -> odm::Result<Vec<Movie>> {
// +     movies.all().with(Movie::fields().details).await
