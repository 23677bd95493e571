//! The reports of the catalogue: aggregates, which the store computes, and pages of a search.

use odm::{
    prelude::*,
    query::count,
    repository::{Cursor, Page},
};

use super::models::{Catalogue, Director, Distributor, Movie};

/// The mean rating of a genre and how many movies have one, the best genre first.
pub async fn ratings_by_genre(
    db: &Catalogue,
    least: u64,
) -> odm::Result<Vec<(Option<String>, (Option<f64>, u64))>> {
    let movie = Movie::fields();
    db.movies
        .find(!movie.rating.is_null() & !movie.genre.id.is_null())
        .group_by(movie.genre.name.optional())
        .select((movie.rating.avg(), count()))
        .having(count().gte(least))
        .sort(movie.rating.avg().desc())
        .await
}

/// The gross of the movies of each year, and their number.
pub async fn gross_by_year(db: &Catalogue) -> odm::Result<Vec<(i32, (i64, u64))>> {
    let movie = Movie::fields();
    db.movies
        .find(!movie.gross.is_null())
        .group_by(movie.year)
        .select((movie.gross.sum(), count()))
        .await
}

/// The distributors whose movies earned the most: no aggregate, since the sum is stored with each.
pub async fn gross_by_distributor(db: &Catalogue, first: u64) -> odm::Result<Vec<Distributor>> {
    let gross = Distributor::fields().gross;
    db.distributors.all().sort(gross.desc()).limit(first).await
}

/// The directors of the most movies, each with the best of them: no join, and no aggregate.
pub async fn busiest_directors(db: &Catalogue, first: u64) -> odm::Result<Vec<Director>> {
    let director = Director::fields();
    db.directors
        .all()
        .sort(director.movies.desc())
        .sort(director.name.asc())
        .limit(first)
        .await
}

/// A page of the movies whose titles have all the words, the newest first.
pub async fn search(
    db: &Catalogue,
    text: &str,
    after: Option<&Cursor>,
    size: u64,
) -> odm::Result<Page<Movie>> {
    let movie = Movie::fields();
    let mut found = db.movies.find(movie.words.matches(text));
    found = found.sort(movie.year.desc()).sort(movie.title.asc());
    if let Some(after) = after {
        found = found.after(after);
    }
    found.with_total().page(size).await
}
