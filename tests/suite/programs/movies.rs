//! A movie catalogue: imported again and again from a list without ids, searched, and summed up.

use odm::{Result, prelude::*, query::count};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_local_stores};

/// A movie. The fields that only its own page shows are in a cold part.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(
    collection = "movies",
    new(name = "NewMovie", derive(Debug, Clone, Deserialize)),
    unique(fields = "title, year"),
    index(fields = "title", case_insensitive)
)]
struct Movie {
    #[serde(rename = "_id")]
    #[id(auto)]
    id: ObjectId,
    title: String,
    year: i32,
    #[index]
    rating: Option<f64>,
    #[index]
    genres: Vec<String>,
    #[embed]
    director: Option<Credit>,
    #[split(collection = "details", key = "movie")]
    details: Cold<Details>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Details {
    gross: i64,
    certificate: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Credit {
    #[reference(parent)]
    id: Ref<Director>,
    #[denormalize(from = "Director.name")]
    name: String,
}

/// A director, with the best movies.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "directors", new = "NewDirector")]
struct Director {
    #[serde(rename = "_id")]
    #[id(auto)]
    id: ObjectId,
    #[index(unique)]
    name: String,
    #[count(of = "Movie", via = "director.id")]
    movies: i64,
    #[subset(limit = 3, sort = "-rating", via = "director.id")]
    best: Subset<Brief>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Movie")]
struct Brief {
    title: String,
    rating: Option<f64>,
}

/// A line of the list that is imported.
#[derive(Debug, Clone, Deserialize)]
struct Line {
    title: String,
    year: i32,
    rating: Option<f64>,
    genres: Vec<String>,
    director: Option<String>,
    gross: i64,
    certificate: Option<String>,
}

#[derive(Database)]
#[database(name = "catalogue", version = 1)]
struct Catalogue {
    movies: Repository<Movie>,
    directors: Repository<Director>,
}

impl Catalogue {
    /// Inserts the movies of a list, and changes the ones that exist already.
    async fn import(&self, lines: Vec<Line>) -> Result<Vec<Movie>> {
        let names = lines.iter().map(|line| line.director.clone());
        let directors = names.map(|name| {
            let director = NewDirector { name: name? };
            Some(self.directors.upsert_by(Director::fields().name, director).keep())
        });
        let directors = self.bulk(directors.collect::<Vec<_>>()).await?;
        let key = (Movie::fields().title, Movie::fields().year);
        let movies = lines.into_iter().zip(&directors).map(|(line, director)| {
            let details = Details { gross: line.gross, certificate: line.certificate };
            let movie = NewMovie {
                title: line.title,
                year: line.year,
                rating: line.rating,
                genres: line.genres,
                director: director.as_ref().map(Credit::from),
                details: details.into(),
            };
            self.movies.upsert_by(key, movie)
        });
        self.bulk(movies.collect::<Vec<_>>()).await
    }

    /// The movies whose title begins like this, in any case.
    async fn search(&self, prefix: &str) -> Result<Vec<Brief>> {
        let title = Movie::fields().title;
        let found = self.movies.find(title.starts_with_ignore_case(prefix));
        found.sort(title.asc().ignore_case()).limit(20).select().await
    }

    /// The movies of a certificate and a genre, by their gross, the highest first.
    async fn top(&self, certificate: &str, genre: &str) -> Result<Vec<Movie>> {
        let fields = Movie::fields();
        let rated = fields.details.certificate.eq(certificate) & fields.genres.contains(genre);
        self.movies.find(rated).sort(fields.details.gross.desc()).limit(10).await
    }

    /// The mean rating and the number of the movies of each genre with at least `least` of them.
    async fn genres(&self, least: u64) -> Result<Vec<(String, (Option<f64>, u64))>> {
        let fields = Movie::fields();
        let movies = self.movies.all().unwind(fields.genres);
        let genres = movies.group_by(fields.genres.element());
        let genres = genres.select((fields.rating.avg(), count()));
        genres.having(count().gte(least)).sort(fields.rating.avg().desc()).await
    }

    /// The directors of a movie of this genre, by name.
    async fn directors_of(&self, genre: &str) -> Result<Vec<Director>> {
        let (movie, director) = (Movie::fields(), Director::fields());
        let all =
            self.directors.all().any_referrer(movie.director.id, movie.genres.contains(genre));
        all.sort(director.name.asc()).await
    }
}

// The tests.

fn line(title: &str, year: i32, rating: f64, genres: &str, director: &str, gross: i64) -> Line {
    Line {
        title: title.into(),
        year,
        rating: Some(rating),
        genres: genres.split(' ').map(Into::into).collect(),
        director: (!director.is_empty()).then(|| director.into()),
        gross,
        certificate: Some(if gross > 100 { "R" } else { "PG" }.into()),
    }
}

fn list() -> Vec<Line> {
    vec![
        line("Heat", 1995, 8.3, "crime drama", "Mann", 187),
        line("heathers", 1989, 7.2, "comedy crime", "Lehmann", 1),
        line("Collateral", 2004, 7.5, "crime", "Mann", 220),
        line("Ali", 2001, 6.7, "drama", "Mann", 87),
        line("Thief", 1981, 7.4, "crime", "Mann", 11),
        line("Unknown", 1920, 5.0, "drama", "", 101),
    ]
}

async fn catalogue(store: impl TestStore) -> Catalogue {
    let catalogue = Catalogue::open(store).await.unwrap();
    assert_eq!(catalogue.import(list()).await.unwrap().len(), 6);
    catalogue
}

on_local_stores! {
    async fn a_list_is_imported_again_without_doubles(store: AnyStore) {
        let catalogue = catalogue(store).await;
        let before = catalogue.movies.find(Movie::fields().title.eq("Heat")).one().await.unwrap();
        let mut again = list();
        again[0].rating = Some(9.0);
        again[1].director = Some("Mann".into());
        again.push(line("Heat", 2013, 6.6, "comedy", "Feig", 229));
        catalogue.import(again).await.unwrap();
        assert_eq!(catalogue.movies.all().count().await.unwrap(), 7);
        assert_eq!(catalogue.directors.all().count().await.unwrap(), 3);
        let after = catalogue.movies.get(before.id).await.unwrap();
        assert_eq!(after.rating, Some(9.0));
        let mann = catalogue.directors.find(Director::fields().name.eq("Mann")).one().await.unwrap();
        let best: Vec<&str> = mann.best.iter().map(|movie| movie.title.as_str()).collect();
        assert_eq!((mann.movies, best), (5, vec!["Heat", "Collateral", "Thief"]));
        catalogue.directors.update(&mann).set(Director::fields().name, "Michael Mann").await.unwrap();
        let heat = catalogue.movies.get(before.id).await.unwrap();
        assert_eq!(heat.director.unwrap().name, "Michael Mann");
        assert_eq!(catalogue.audit().await.unwrap(), []);
    }

    async fn movies_are_searched_in_any_case(store: AnyStore) {
        let catalogue = catalogue(store).await;
        let found = catalogue.search("HEAT").await.unwrap();
        assert_eq!(found.iter().map(|movie| movie.title.as_str()).collect::<Vec<_>>(), ["Heat", "heathers"]);
    }

    async fn one_query_is_by_the_document_and_its_cold_part(store: AnyStore) {
        let catalogue = catalogue(store).await;
        let top = catalogue.top("R", "crime").await.unwrap();
        assert_eq!(top.iter().map(|movie| movie.title.as_str()).collect::<Vec<_>>(), ["Collateral", "Heat"]);
        assert_eq!(top[0].details.get().unwrap().gross, 220);
    }

    async fn genres_are_summed_up(store: AnyStore) {
        let catalogue = catalogue(store).await;
        let genres = catalogue.genres(2).await.unwrap();
        let seen: Vec<(&str, u64)> = genres.iter().map(|(genre, (_, number))| (genre.as_str(), *number)).collect();
        assert_eq!(seen, [("crime", 4), ("drama", 3)]);
        assert!((genres[0].1.0.unwrap() - 7.6).abs() < 1e-9);
        let directors = catalogue.directors_of("comedy").await.unwrap();
        assert_eq!(directors.iter().map(|director| director.name.as_str()).collect::<Vec<_>>(), ["Lehmann"]);
    }
}
