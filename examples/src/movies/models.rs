//! The documents of the catalogue.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

/// A movie. The names beside its references are copies, so that a list of movies takes no join.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(
    collection = "movies",
    new(name = "NewMovie", derive(Debug, Clone, PartialEq)),
    unique(fields = "title, year"),
    index(fields = "-year, title")
)]
pub struct Movie {
    /// Made by chance.
    #[serde(rename = "_id")]
    #[id(auto)]
    pub id: ObjectId,
    /// The title.
    #[validate(max_length = 200, pattern = r"\S")]
    pub title: String,
    /// The words of the title in lower case, by which it is searched.
    #[index]
    pub words: Vec<String>,
    /// When it came out.
    pub released: DateTime,
    /// The year of that.
    #[validate(min = 1890, max = 2100)]
    pub year: i32,
    /// Who directed it.
    #[embed]
    pub director: Option<DirectorLink>,
    /// Its genre.
    #[embed]
    pub genre: Option<GenreLink>,
    /// Who brought it into cinemas.
    #[embed]
    pub distributor: Option<DistributorLink>,
    /// How good it is, out of ten.
    #[validate(min = 0, max = 10)]
    pub rating: Option<f64>,
    /// How many say so.
    #[validate(min = 0)]
    pub votes: Option<i64>,
    /// The gross in all cinemas, in dollars.
    #[validate(min = 1)]
    pub gross: Option<i64>,
    /// The budget, in dollars.
    #[validate(min = 1)]
    pub budget: Option<i64>,
}

/// The director of a movie.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
pub struct DirectorLink {
    /// Who.
    #[reference(parent)]
    pub id: Ref<Director>,
    /// The name.
    #[denormalize(from = "Director.name")]
    pub name: String,
}

/// The genre of a movie.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
pub struct GenreLink {
    /// Which.
    #[reference(parent)]
    pub id: Ref<Genre>,
    /// The name.
    #[denormalize(from = "Genre.name")]
    pub name: String,
}

/// The distributor of a movie.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
pub struct DistributorLink {
    /// Which.
    #[reference(parent)]
    pub id: Ref<Distributor>,
    /// The name.
    #[denormalize(from = "Distributor.name")]
    pub name: String,
}

/// A director, with the five best movies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "directors", new = "NewDirector")]
pub struct Director {
    /// Made by chance.
    #[serde(rename = "_id")]
    #[id(auto)]
    pub id: ObjectId,
    /// The full name.
    #[index(unique)]
    #[validate(pattern = r"\S")]
    pub name: String,
    /// How many movies there are.
    #[index]
    #[count(of = "Movie", via = "director.id")]
    pub movies: i64,
    /// The best of them.
    #[subset(limit = 5, sort = "-rating, -votes", via = "director.id", filter = well_known)]
    pub best: Subset<MovieSummary>,
}

/// A genre, with how many movies are of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "genres", new = "NewGenre")]
pub struct Genre {
    /// Made by chance.
    #[serde(rename = "_id")]
    #[id(auto)]
    pub id: ObjectId,
    /// The name.
    #[index(unique)]
    #[validate(pattern = r"\S")]
    pub name: String,
    /// How many movies there are.
    #[count(of = "Movie", via = "genre.id")]
    pub movies: i64,
}

/// A distributor, with how many movies it has brought into cinemas.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "distributors", new = "NewDistributor")]
pub struct Distributor {
    /// Made by chance.
    #[serde(rename = "_id")]
    #[id(auto)]
    pub id: ObjectId,
    /// The name.
    #[index(unique)]
    #[validate(pattern = r"\S")]
    pub name: String,
    /// How many movies there are.
    #[count(of = "Movie", via = "distributor.id")]
    pub movies: i64,
}

/// The summary of a movie in its director.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Movie")]
pub struct MovieSummary {
    /// The title.
    pub title: String,
    /// The year in which it came out.
    pub year: i32,
    /// How good it is.
    pub rating: Option<f64>,
    /// How many say so.
    pub votes: Option<i64>,
}

/// The rating of a few says little.
fn well_known() -> Filter<Movie> {
    Movie::fields().votes.gte(1_000)
}

/// The catalogue.
#[derive(Database)]
#[database(name = "movies", version = 1)]
pub struct Catalogue {
    /// Movies.
    pub movies: Repository<Movie>,
    /// Who directed them.
    pub directors: Repository<Director>,
    /// Their genres.
    pub genres: Repository<Genre>,
    /// Who brought them into cinemas.
    pub distributors: Repository<Distributor>,
}
