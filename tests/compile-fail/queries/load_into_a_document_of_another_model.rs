use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    qty: i32,
    tags: Vec<String>,
    #[reference(child)]
    like: Option<Ref<Part>>,
}

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

async fn run(movies: Repository<Movie>, mut part: Part) -> odm::Result<()> {
    let found = movies.load(&mut part, Movie::fields().details).await?;
    drop(found);
    Ok(())
}

fn main() {}

// - async fn run(movies: Repository<Movie>, mut part: Part) -> odm::Result<()> {
// -     let found = movies.load(&mut part, Movie::fields().details).await?;
// + async fn run(movies: Repository<Movie>, mut movie: Movie) -> odm::Result<()> {
// +     let found = movies.load(&mut movie, Movie::fields().details).await?;
