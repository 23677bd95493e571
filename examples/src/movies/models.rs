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
    /// The id.
    #[serde(rename = "_id")]
    #[id(auto)]
    pub id: ObjectId,
    /// The title.
    #[validate(max_length = 200, pattern = r"\S")]
    pub title: String,
    /// The words of the title, by which it is searched.
    #[computed(words(&title))]
    #[index]
    pub words: Vec<String>,
    /// When it came out.
    pub released: DateTime,
    /// The year of `released`.
    #[validate(min = 1890, max = 2100)]
    pub year: i32,
    /// Who directed it.
    #[embed]
    pub director: Option<DirectorLink>,
    /// Its genre.
    #[embed]
    pub genre: Option<GenreLink>,
    /// The distributor.
    #[embed]
    pub distributor: Option<DistributorLink>,
    /// The rating, out of ten.
    #[validate(min = 0, max = 10)]
    pub rating: Option<f64>,
    /// The number of votes.
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
    /// The director.
    #[reference(parent)]
    pub id: Ref<Director>,
    /// The name.
    #[denormalize(from = "Director.name")]
    pub name: String,
}

/// The genre of a movie.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
pub struct GenreLink {
    /// The genre.
    #[reference(parent)]
    pub id: Ref<Genre>,
    /// The name.
    #[denormalize(from = "Genre.name")]
    pub name: String,
}

/// The distributor of a movie.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
pub struct DistributorLink {
    /// The distributor.
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
    /// The id.
    #[serde(rename = "_id")]
    #[id(auto)]
    pub id: ObjectId,
    /// The full name.
    #[index(unique)]
    #[validate(pattern = r"\S")]
    pub name: String,
    /// The number of the director's movies.
    #[index]
    #[count(of = "Movie", via = "director.id")]
    pub movies: i64,
    /// The director's best movies.
    #[subset(limit = 5, sort = "-rating, -votes", via = "director.id", filter = well_known)]
    pub best: Subset<MovieSummary>,
}

/// A genre, with the number of its movies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "genres", new = "NewGenre")]
pub struct Genre {
    /// The id.
    #[serde(rename = "_id")]
    #[id(auto)]
    pub id: ObjectId,
    /// The name.
    #[index(unique)]
    #[validate(pattern = r"\S")]
    pub name: String,
    /// The number of its movies.
    #[count(of = "Movie", via = "genre.id")]
    pub movies: i64,
}

/// A distributor, with the number and the gross of its movies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "distributors", new = "NewDistributor")]
pub struct Distributor {
    /// The id.
    #[serde(rename = "_id")]
    #[id(auto)]
    pub id: ObjectId,
    /// The name.
    #[index(unique)]
    #[validate(pattern = r"\S")]
    pub name: String,
    /// The number of its movies.
    #[count(of = "Movie", via = "distributor.id")]
    pub movies: i64,
    /// The gross of its movies, in dollars.
    #[index]
    #[sum(of = "Movie.gross", via = "distributor.id")]
    pub gross: i64,
}

/// The summary of a movie in its director.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Movie")]
pub struct MovieSummary {
    /// The title.
    pub title: String,
    /// The year in which it came out.
    pub year: i32,
    /// The rating.
    pub rating: Option<f64>,
    /// The number of votes.
    pub votes: Option<i64>,
}

/// Movies with enough votes: a mean of a few votes says little.
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
