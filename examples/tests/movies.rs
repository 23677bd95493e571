//! Imports the sample of the movie catalogue, and compares its reports with plain computations.

use std::collections::BTreeMap;

use examples::movies::{
    charts::{Heading, bars, columns, dollars},
    import::{Corrected, Imported, LeftOut, Line, SAMPLE, import},
    models::{Catalogue, Director, Movie},
    reports,
};
use odm::{Embedded, prelude::*};

fn lines() -> Vec<Line> {
    serde_json::from_str(SAMPLE).unwrap()
}

async fn empty() -> Catalogue {
    Catalogue::open(Embedded::memory().await.unwrap())
        .await
        .unwrap()
}

async fn catalogue() -> (Catalogue, Imported) {
    let db = empty().await;
    let imported = import(&db, lines()).await.unwrap();
    (db, imported)
}

#[tokio::test]
async fn the_import_counts_what_it_corrects_and_leaves_out() {
    let (db, imported) = catalogue().await;
    assert_eq!((imported.lines, imported.movies), (100, 99));
    let corrected = [
        (Corrected::NumberAsTitle, 9),
        (Corrected::CenturyLate, 7),
        (Corrected::ZeroAmount, 4),
    ];
    assert_eq!(imported.corrected, BTreeMap::from(corrected));
    assert_eq!(imported.left_out, BTreeMap::from([(LeftOut::NoTitle, 1)]));

    let movie = Movie::fields();
    let number = db.movies.find(movie.title.eq("1776")).one().await.unwrap();
    assert_eq!((number.year, number.gross), (1972, None));
    let intolerance = db.movies.find(movie.title.eq("Intolerance")).one().await;
    assert_eq!(intolerance.unwrap().released, "1916-09-05".parse().unwrap());
    assert_eq!(db.audit().await.unwrap(), []);
    assert_eq!(db.audit().with_validation().await.unwrap(), []);
}

#[tokio::test]
async fn a_second_import_changes_what_is_there_and_adds_nothing() {
    let (db, first) = catalogue().await;
    let before = db
        .movies
        .find(Movie::fields().title.eq("Inception"))
        .one()
        .await
        .unwrap();
    let mut again = lines();
    let inception = again
        .iter_mut()
        .find(|line| line.title == "Inception")
        .unwrap();
    inception.rating = Some(9.9);
    inception.director = Some("Somebody Else".into());
    let twice = inception.clone();
    again.push(twice);
    let second = import(&db, again).await.unwrap();
    assert_eq!(second.movies, first.movies);
    assert_eq!(second.left_out[&LeftOut::Twice], 1);
    assert_eq!(db.movies.all().count().await.unwrap(), 99);
    let after = db.movies.get(before.id).await.unwrap();
    assert_eq!(
        (after.rating, after.director.unwrap().name.as_str()),
        (Some(9.9), "Somebody Else")
    );
    let nolan = director(&db, "Christopher Nolan").await;
    assert!(
        nolan.best.iter().all(|movie| movie.title != "Inception"),
        "{:?}",
        nolan.best
    );
    assert_eq!(nolan.movies, 6);
    assert_eq!(db.audit().await.unwrap(), []);
}

async fn director(db: &Catalogue, name: &str) -> Director {
    db.directors
        .find(Director::fields().name.eq(name))
        .one()
        .await
        .unwrap()
}

#[tokio::test]
async fn each_director_shows_the_five_best_well_known_movies_and_counts_all() {
    let (db, _) = catalogue().await;
    let movies = db.movies.all().await.unwrap();
    let mut directors = 0;
    for director in db.directors.all().await.unwrap() {
        let is_of = |movie: &&Movie| {
            movie
                .director
                .as_ref()
                .is_some_and(|d| d.id == Ref::from(&director))
        };
        let all: Vec<&Movie> = movies.iter().filter(is_of).collect();
        assert_eq!(director.movies, all.len() as i64, "{}", director.name);
        let mut best: Vec<&Movie> = all;
        best.retain(|movie| movie.votes.is_some_and(|votes| votes >= 1_000));
        let merit = |movie: &Movie| {
            (
                movie.rating.map(|rating| (rating * 10.0) as i64),
                movie.votes,
            )
        };
        best.sort_by_key(|movie| std::cmp::Reverse(merit(movie)));
        let best: Vec<&str> = best
            .iter()
            .take(5)
            .map(|movie| movie.title.as_str())
            .collect();
        let shown: Vec<&str> = director
            .best
            .iter()
            .map(|movie| movie.title.as_str())
            .collect();
        assert_eq!(shown, best, "{}", director.name);
        directors += 1;
    }
    assert!(directors > 20);
    for genre in db.genres.all().await.unwrap() {
        let is_of = |movie: &&Movie| movie.genre.as_ref().is_some_and(|g| g.name == genre.name);
        assert_eq!(genre.movies, movies.iter().filter(is_of).count() as i64);
    }
    let name = Director::fields().name;
    let nolan = director(&db, "Christopher Nolan").await;
    db.directors
        .update(&nolan)
        .set(name, "C. Nolan")
        .await
        .unwrap();
    let credited = Movie::fields().director.name.eq("C. Nolan");
    assert_eq!(
        db.movies.find(credited).count().await.unwrap(),
        nolan.movies as u64
    );
    assert_eq!(db.audit().await.unwrap(), []);
}

#[tokio::test]
async fn the_aggregates_are_those_of_a_plain_computation() {
    let (db, _) = catalogue().await;
    let movies = db.movies.all().await.unwrap();

    let mut ratings: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mut by_year: BTreeMap<i32, (i64, u64)> = BTreeMap::new();
    let mut by_distributor: BTreeMap<&str, i64> = BTreeMap::new();
    for movie in &movies {
        if let (Some(genre), Some(rating)) = (&movie.genre, movie.rating) {
            ratings.entry(&genre.name).or_default().push(rating);
        }
        if let Some(gross) = movie.gross {
            let year = by_year.entry(movie.year).or_default();
            *year = (year.0 + gross, year.1 + 1);
        }
        if let Some(distributor) = &movie.distributor {
            *by_distributor.entry(&distributor.name).or_default() += movie.gross.unwrap_or(0);
        }
    }
    ratings.retain(|_, ratings| ratings.len() >= 5);
    let genres = reports::ratings_by_genre(&db, 5).await.unwrap();
    assert_eq!(genres.len(), ratings.len());
    for (name, (mean, movies)) in &genres {
        let ratings = &ratings[name.as_deref().unwrap()];
        let plain = ratings.iter().sum::<f64>() / ratings.len() as f64;
        assert!(
            (mean.unwrap() - plain).abs() < 1e-9,
            "{name:?}: {mean:?}, not {plain}"
        );
        assert_eq!(*movies, ratings.len() as u64);
    }
    assert!(
        genres.is_sorted_by(|one, other| one.1.0 >= other.1.0),
        "{genres:?}"
    );

    let years = reports::gross_by_year(&db).await.unwrap();
    assert_eq!(years, by_year.into_iter().collect::<Vec<_>>());

    let distributors = reports::gross_by_distributor(&db, 4).await.unwrap();
    let mut plain: Vec<(&str, i64)> = by_distributor.into_iter().collect();
    plain.sort_by_key(|(_, gross)| std::cmp::Reverse(*gross));
    let first = distributors
        .iter()
        .map(|distributor| (distributor.name.as_str(), distributor.gross));
    assert_eq!(first.collect::<Vec<_>>(), plain[..4]);
}

#[tokio::test]
async fn a_search_finds_all_words_of_a_title_page_by_page() {
    let (db, _) = catalogue().await;
    let wanted: Vec<String> = {
        let mut movies = db.movies.all().await.unwrap();
        movies.retain(|movie| {
            let title = movie.title.to_lowercase();
            title.contains("star") && title.contains("wars")
        });
        movies.sort_by(|one, other| other.year.cmp(&one.year).then(one.title.cmp(&other.title)));
        movies.into_iter().map(|movie| movie.title).collect()
    };
    assert!(wanted.len() > 3, "{wanted:?}");
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let page = reports::search(&db, "wars, STAR", after.as_ref(), 2)
            .await
            .unwrap();
        assert_eq!(page.total, Some(wanted.len() as u64));
        found.extend(page.items.into_iter().map(|movie| movie.title));
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert_eq!(found, wanted);
    let all = reports::search(&db, " ", None, 1).await.unwrap();
    assert_eq!(all.total, Some(99));
}

/// The labels and the sizes of the bars or columns of a chart.
fn drawn(svg: &str, size: &str) -> Vec<(String, f64)> {
    let document = roxmltree::Document::parse(svg).unwrap();
    assert_eq!(document.root_element().tag_name().name(), "svg");
    let is_bar = |node: &roxmltree::Node<'_, '_>| node.has_tag_name("rect") && node.has_children();
    let bars = document.root_element().children().filter(is_bar);
    bars.map(|bar| {
        let label = bar.first_element_child().unwrap().text().unwrap();
        (
            label.to_owned(),
            bar.attribute(size).unwrap().parse().unwrap(),
        )
    })
    .collect()
}

#[test]
fn charts_are_well_formed_and_drawn_to_scale() {
    let heading = Heading {
        title: "Rock & \"Roll\" <loud>",
        subtitle: "a\u{1}b",
    };
    let rows = [
        ("<A> & B".to_owned(), 8.0),
        ("C".to_owned(), 2.0),
        ("D".to_owned(), 0.0),
    ];
    let svg = bars(heading, &rows, |value| format!("{value:.1}"));
    let bars = drawn(&svg, "width");
    let labels: Vec<&str> = bars.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(labels, ["<A> & B: 8.0", "C: 2.0", "D: 0.0"]);
    assert!(
        (bars[0].1 - 4.0 * bars[1].1).abs() < 0.3 && bars[2].1 == 0.0,
        "{bars:?}"
    );

    let years = [(1999, 2e9), (2000, 4e9), (2001, 0.0)];
    let svg = columns(heading, &years, dollars);
    let columns = drawn(&svg, "height");
    assert_eq!(columns[1].0, "2000: $4bn");
    assert!(
        (columns[1].1 - 2.0 * columns[0].1).abs() < 0.2,
        "{columns:?}"
    );
    for size in ["width", "height"] {
        assert_eq!(drawn(&columns_of_nothing(), size), []);
    }
}

fn columns_of_nothing() -> String {
    let heading = Heading {
        title: "nothing",
        subtitle: "",
    };
    columns(heading, &[], dollars)
}
