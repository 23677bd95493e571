//! The one-to-one subset pattern: a movie whose details are a cold part.

use odm::{Finding, prelude::*};
use serde::{Deserialize, Serialize};

use crate::show::{Screen, change, query};

/// The part of a movie that lists show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "movies")]
pub struct Movie {
    /// Its number.
    #[serde(rename = "_id")]
    pub id: i32,
    /// The title.
    pub title: String,
    /// When it was made.
    pub year: i32,
    /// The running time, in minutes.
    pub runtime: i32,
    /// When it was first shown.
    pub released: DateTime,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Who directed it.
    pub directors: Vec<String>,
    /// Where it was made.
    pub countries: Vec<String>,
    /// Its genres.
    pub genres: Vec<String>,
    /// The part that only the page of the movie shows.
    #[split(collection = "movie_details", key = "movie_id")]
    pub details: Cold<MovieDetails>,
}

/// The part of a movie that only its page shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
pub struct MovieDetails {
    /// The address of the poster.
    pub poster: String,
    /// The plot.
    pub plot: String,
    /// The plot at length.
    pub fullplot: String,
    /// When the details were last changed.
    pub lastupdated: DateTime,
    /// The rating of one site.
    #[embed]
    pub imdb: Imdb,
    /// The rating of another site.
    #[embed]
    pub tomatoes: Tomatoes,
}

/// The rating of a site.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
pub struct Imdb {
    /// The rating.
    pub rating: f64,
    /// The number of votes.
    pub votes: i32,
    /// The id of the movie on that site.
    pub id: i32,
}

/// The rating of another site.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[serde(rename_all = "camelCase")]
pub struct Tomatoes {
    /// The rating by viewers.
    #[embed]
    pub viewer: Viewer,
    /// When the rating was last changed.
    pub last_updated: DateTime,
}

/// A rating by viewers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[serde(rename_all = "camelCase")]
pub struct Viewer {
    /// The rating.
    pub rating: f64,
    /// The number of reviews.
    pub num_reviews: i32,
}

/// The summary of a movie in an overview.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Movie")]
pub struct MovieTitle {
    /// The title.
    pub title: String,
    /// When it was made.
    pub year: i32,
    /// Who directed it.
    pub directors: Vec<String>,
}

/// Movies.
#[derive(Database)]
#[database(name = "movies", version = 1)]
pub struct Movies {
    /// Movies, with their details.
    pub movies: Repository<Movie>,
}

/// Stores the guides' movie.
pub async fn load(db: &Movies) -> odm::Result<Movie> {
    let date = |text: &str| text.parse::<DateTime>();
    let details = MovieDetails {
        poster: "https://example.com/the-arrival-of-a-train.jpg".into(),
        plot: "A group of people are standing in a straight line along the platform of a railway \
               station, waiting for a train."
            .into(),
        fullplot: "A group of people are standing in a straight line along the platform of a \
                   railway station, waiting for a train, which is seen coming at some distance. \
                   When the train stops at the platform, the line dissolves."
            .into(),
        lastupdated: date("2015-08-15T10:06:53Z")?,
        imdb: Imdb {
            rating: 7.3,
            votes: 5043,
            id: 12,
        },
        tomatoes: Tomatoes {
            viewer: Viewer {
                rating: 3.7,
                num_reviews: 59,
            },
            last_updated: date("2020-01-29T00:02:53Z")?,
        },
    };
    let movie = Movie {
        id: 1,
        title: "The Arrival of a Train".into(),
        year: 1896,
        runtime: 1,
        released: date("1896-01-25T00:00:00Z")?,
        kind: "movie".into(),
        directors: vec!["Auguste Lumière".into(), "Louis Lumière".into()],
        countries: vec!["France".into()],
        genres: vec!["Documentary".into(), "Short".into()],
        details: details.into(),
    };
    db.movies.insert(movie).await
}

/// S4: the overview of movies, and the page of one with its details.
pub async fn run(screen: &mut Screen) -> odm::Result<Vec<Finding>> {
    let db = Movies::open(screen.store()).await?;
    load(&db).await?;
    screen.model(include_str!("movies.rs"), &["Movie"]);
    screen.stored(["movies", "movie_details"]).await?;

    query!(
        screen,
        "the overview, without the details",
        db.movies
            .find(Movie::fields().year.lt(1900))
            .select::<MovieTitle>()
    );
    query!(
        screen,
        "the page of a movie, with them",
        db.movies.get(1).with(Movie::fields().details)
    );
    query!(
        screen,
        "the best movies, by a field of the details",
        db.movies
            .find(Movie::fields().details.imdb.rating.gt(7.0))
            .sort(Movie::fields().details.imdb.rating.desc())
            .select::<MovieTitle>()
    );
    change!(
        screen,
        "a genre in the movie, a vote in its details",
        db.movies
            .update(1)
            .push(Movie::fields().genres, "Classic")
            .inc(Movie::fields().details.imdb.votes, 1)
    );
    db.audit().await
}
