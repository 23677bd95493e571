//! A document with a cold part is one value for its writers.

mod audit;
mod both;
mod found;
mod history;
mod reads;
mod refused;
mod returned;
mod writes;

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(
    collection = "movies",
    index(fields = "details.imdb.rating"),
    index(fields = "details.tags, -details.plot")
)]
#[serde(rename_all = "camelCase")]
struct Movie {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[split(collection = "movie_details", key = "movie_id")]
    #[serde(rename = "cold")]
    details: Cold<Details>,
    release_year: i32,
    /// Under the `_id` of the movie itself.
    #[split(collection = "movie_scripts", key = "_id", optional)]
    script: Cold<Script>,
    #[version]
    revision: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Details {
    plot: String,
    tags: Vec<String>,
    #[embed]
    imdb: Imdb,
    #[reference(child)]
    star: Option<Ref<Star>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Imdb {
    rating: f64,
    votes: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Script {
    text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "stars")]
struct Star {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

#[derive(Database)]
#[database(name = "movies", version = 1)]
struct Movies {
    movies: Repository<Movie>,
    stars: Repository<Star>,
}

fn details(n: i32) -> Details {
    Details {
        plot: format!("plot {n}"),
        tags: vec!["old".into(), format!("tag {}", n % 2)],
        imdb: Imdb { rating: f64::from(n % 5), votes: i64::from(n) },
        star: None,
    }
}

fn movie(id: i32) -> Movie {
    Movie {
        id,
        title: format!("movie {id}"),
        details: details(id).into(),
        release_year: 1900 + id,
        script: Cold::unloaded(),
        revision: 0,
    }
}
