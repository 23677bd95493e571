//! Queries over a document and its cold parts.

use odm::{Embedded, measure, prelude::*};
use proptest::{prelude::*, test_runner::TestRunner};
use tests::{TestStore, on_embedded_stores, on_every_store};

use super::{Details, Movie, Movies, Script, details, movie};

/// Movies, some of which have the same plot, year and script.
async fn movies(store: impl TestStore, number: i32) -> Movies {
    let db = Movies::open(store).await.unwrap();
    let new = (1..=number).map(|id| Movie {
        release_year: 1900 + id % 4,
        details: Details { plot: format!("plot {}", id % 3), ..details(id) }.into(),
        script: Script { text: format!("script {}", id % 7) }.into(),
        ..movie(id)
    });
    db.movies.insert_many(new).await.unwrap();
    db
}

fn ids(movies: &[Movie]) -> Vec<i32> {
    movies.iter().map(|movie| movie.id).collect()
}

on_every_store! {
    async fn conditions_on_a_document_and_its_cold_parts_all_hold(store: AnyStore) {
        let db = movies(store, 20).await;
        let (movie, details) = (Movie::fields(), Movie::fields().details);
        let both = || db.movies.find(movie.release_year.eq(1901) & details.plot.eq("plot 2"));
        let found = both().await.unwrap();
        assert_eq!(ids(&found), [5, 17]);
        // A cold part that the query names is loaded; the other is not.
        assert!(found.iter().all(|movie| movie.details.get().is_some_and(|details| details.plot == "plot 2")));
        assert!(found.iter().all(|movie| movie.script.get().is_none()));
        assert_eq!(both().count().await.unwrap(), 2);
        assert_eq!(both().skip(1).first().await.unwrap().unwrap().id, 17);
        assert_eq!(both().explain().await.unwrap().cost.documents_returned, 2);
        let three = db.movies.find(movie.id.gt(1) & movie.release_year.lt(1903))
            .filter(details.plot.ne("plot 1"))
            .filter(movie.script.text.in_(["script 1", "script 2"]));
        assert_eq!(ids(&three.await.unwrap()), [2, 8, 9]);
        let none = db.movies.find(details.plot.eq("plot 2") & movie.title.eq("x"));
        assert!(!none.exists().await.unwrap());
        let cold = db.movies.find(details.plot.eq("plot 2") & movie.script.text.eq("script 2"));
        assert_eq!(ids(&cold.await.unwrap()), [2]);
    }

    async fn the_order_may_be_in_another_collection_than_the_conditions(store: AnyStore) {
        let db = movies(store, 20).await;
        let (movie, details) = (Movie::fields(), Movie::fields().details);
        let by_rating = || {
            let found = db.movies.find(movie.release_year.eq(1901));
            found.sort(details.imdb.rating.desc())
        };
        let order = ids(&by_rating().await.unwrap());
        assert_eq!(order, [9, 13, 17, 1, 5]);
        let by_title = db.movies.find(details.imdb.rating.eq(4.0)).sort(movie.title.desc()).limit(3);
        assert_eq!(ids(&by_title.await.unwrap()), [9, 4, 19]);
        let mut paged = Vec::new();
        let mut page = by_rating().with_total().page(2).await.unwrap();
        loop {
            assert_eq!(page.total, Some(5));
            paged.extend(ids(&page.items));
            let Some(next) = page.next else { break };
            page = by_rating().with_total().after(&next).page(2).await.unwrap();
        }
        assert_eq!(paged, order);
        let back = by_rating().before(&page.previous.unwrap()).page(2).await.unwrap();
        assert_eq!(ids(&back.items), [17, 1]);
        let mut stream = by_rating().stream();
        let mut streamed = Vec::new();
        while let Some(movie) = stream.try_next().await.unwrap() {
            streamed.push(movie.id);
        }
        assert_eq!(streamed, order);
    }

    async fn a_query_over_both_sees_its_transaction(store: AnyStore) {
        let db = movies(store, 4).await;
        let (movie, details) = (Movie::fields(), Movie::fields().details);
        db.transaction(async |db| {
            db.movies.update(3).set(details.plot, "new").await?;
            db.movies.update(4).set(details.plot, "new").await?;
            let both = db.movies.find(details.plot.eq("new") & movie.release_year.eq(1903));
            assert_eq!(ids(&both.await?), [3]);
            Ok(())
        })
        .await
        .unwrap();
    }
}

on_embedded_stores! {
    async fn a_condition_on_a_cold_part_is_answered_by_its_index(store: AnyStore) {
        let db = movies(store, 300).await;
        let (movie, details) = (Movie::fields(), Movie::fields().details);
        db.movies.update(7).set(details.imdb.rating, 99.0).await.unwrap();
        let both = db.movies.find(details.imdb.rating.gt(50.0) & movie.title.eq("movie 7"));
        let (found, cost) = measure(async { both.await }).await;
        assert_eq!(ids(&found.unwrap()), [7]);
        assert!(cost.documents_scanned == 0 && cost.documents_examined <= 4, "{cost:?}");
    }
}

/// Each query over both parts finds the same as a loop over the whole documents, in the same order.
#[test]
fn a_query_over_both_finds_what_a_loop_finds() {
    let case = (0..4_i32, 0..3_i32, 0..5_i32, 0..4_usize, any::<bool>());
    tests::run(async {
        let db = movies(Embedded::memory().await.unwrap(), 60).await;
        let all = db.movies.all().with(Movie::fields().details).await.unwrap();
        let mut cases = Vec::new();
        let mut runner = TestRunner::new(ProptestConfig::default());
        for _ in 0..200 {
            let tree = proptest::strategy::Strategy::new_tree(&case, &mut runner).unwrap();
            cases.push(proptest::strategy::ValueTree::current(&tree));
        }
        for (year, plot, rating, order, is_descending) in cases {
            let (movie, details) = (Movie::fields(), Movie::fields().details);
            let filter = movie.release_year.ne(1900 + year)
                & details.plot.eq(format!("plot {plot}"))
                & details.imdb.rating.gte(f64::from(rating));
            let key = |movie: &Movie| {
                let details = movie.details.get().unwrap();
                match order {
                    0 => i64::from(movie.release_year),
                    1 => details.imdb.votes % 5,
                    2 => details.imdb.votes,
                    _ => i64::from(movie.id),
                }
            };
            let sort = match (order, is_descending) {
                (0, false) => movie.release_year.asc(),
                (0, true) => movie.release_year.desc(),
                (1, false) => details.imdb.rating.asc(),
                (1, true) => details.imdb.rating.desc(),
                (2, false) => details.imdb.votes.asc(),
                (2, true) => details.imdb.votes.desc(),
                (_, false) => movie.id.asc(),
                (_, true) => movie.id.desc(),
            };
            let mut expected: Vec<Movie> = all
                .iter()
                .filter(|movie| {
                    let details = movie.details.get().unwrap();
                    movie.release_year != 1900 + year
                        && details.plot == format!("plot {plot}")
                        && details.imdb.rating >= f64::from(rating)
                })
                .cloned()
                .collect();
            match is_descending {
                false => expected.sort_by_key(key),
                true => expected.sort_by_key(|movie| std::cmp::Reverse(key(movie))),
            }
            let found = db.movies.find(filter.clone()).sort(sort).await.unwrap();
            assert_eq!(found, expected);
            let count = db.movies.find(filter).count().await.unwrap();
            assert_eq!(count, expected.len() as u64);
        }
    });
}
