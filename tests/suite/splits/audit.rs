//! Cold parts that do not fit their documents are found, and repaired if no data can be lost.

use odm::{Problem, bson::doc, prelude::*};
use tests::{TestStore, behind_the_back, insert_behind_the_back, on_every_store};

use super::{Movie, Movies, Script, details, movie};

async fn movies(store: impl TestStore) -> Movies {
    let db = Movies::open(store).await.unwrap();
    let whole = |id| Movie { script: Script { text: format!("script {id}") }.into(), ..movie(id) };
    db.movies.insert_many((1..=3).map(whole)).await.unwrap();
    db
}

async fn found(audit: odm::Audit) -> Vec<(i32, String, Problem, bool)> {
    let found = audit.await.unwrap().into_iter();
    let id = |id: odm::bson::RawBson| id.as_raw_bson_ref().as_i32().unwrap_or(0);
    found.map(|found| (id(found.id), found.path, found.problem, found.repaired)).collect()
}

on_every_store! {
    async fn a_cold_part_that_is_missing_is_found(store: AnyStore) {
        let db = movies(store.clone()).await;
        assert_eq!(found(db.audit()).await, []);
        let hot = doc! { "_id": 4, "title": "movie 4", "releaseYear": 1904, "revision": 1_i64 };
        insert_behind_the_back(&store, "movies", hot).await;
        let expected = [(4, "cold".into(), Problem::MissingColdPart, false)];
        assert_eq!(found(db.audit()).await, expected);
        assert_eq!(found(db.repair()).await, expected, "nothing can be made up for it");
        db.movies.update(4).set(Movie::fields().details, details(4)).await.unwrap();
        assert_eq!(found(db.audit()).await, []);
    }

    async fn a_cold_part_that_is_doubled_is_found_and_kept_if_it_differs(store: AnyStore) {
        let db = movies(store.clone()).await;
        let part = doc! {
            "movie_id": 1, "plot": "plot 1", "tags": ["old", "tag 1"],
            "imdb": { "rating": 1.0, "votes": 1_i64 }, "star": null,
        };
        let mut same = doc! { "_id": "same" };
        same.extend(part.clone());
        insert_behind_the_back(&store, "movie_details", same).await;
        let doubled = |repaired| [(1, "cold".into(), Problem::DuplicateColdPart, repaired)];
        assert_eq!(found(db.audit()).await, doubled(false));
        assert_eq!(found(db.repair()).await, doubled(true));
        assert_eq!(found(db.audit()).await, []);
        let mut other = doc! { "_id": "other" };
        other.extend(part);
        other.insert("plot", "another");
        insert_behind_the_back(&store, "movie_details", other).await;
        assert_eq!(found(db.repair()).await, doubled(false));
        assert_eq!(tests::stored(&store, "movie_details").await.len(), 4, "nothing is thrown away");
    }

    async fn a_cold_part_without_a_document_is_found_and_kept(store: AnyStore) {
        let db = movies(store.clone()).await;
        insert_behind_the_back(&store, "movie_scripts", doc! { "_id": 9, "text": "lone" }).await;
        let lone = [(9, "_id".into(), Problem::OrphanColdPart, false)];
        assert_eq!(found(db.audit()).await, lone);
        assert_eq!(found(db.repair()).await, lone);
        // Its document may be inserted again.
        db.movies.insert(Movie { script: Cold::unloaded(), ..movie(9) }).await.unwrap();
        assert_eq!(found(db.audit()).await, []);
    }

    async fn what_was_stored_in_one_piece_is_divided(store: AnyStore) {
        let db = movies(store.clone()).await;
        let whole = doc! {
            "_id": 5, "title": "whole", "releaseYear": 1905, "revision": 1_i64,
            "cold": doc! {
                "plot": "plot 5", "tags": ["old", "tag 1"],
                "imdb": { "rating": 0.0, "votes": 5_i64 }, "star": null,
            },
            "script": null,
        };
        insert_behind_the_back(&store, "movies", whole).await;
        insert_behind_the_back(&store, "movie_scripts", doc! { "_id": 5, "text": "s" }).await;
        // The cold parts of another document differ, and both are kept.
        let update = doc! { "$set": { "script": { "text": "other" } } };
        behind_the_back(&store, "movies", doc! { "_id": 1 }, update).await;
        let undivided = || Problem::InlineColdPart;
        assert_eq!(found(db.repair()).await, [
            (5, "cold".into(), Problem::MissingColdPart, true),
            (5, "cold".into(), undivided(), true),
            (1, "script".into(), undivided(), false),
            (5, "script".into(), undivided(), true),
        ]);
        let five = db.movies.get(5).with(Movie::fields().details).await.unwrap();
        assert_eq!(five.details, details(5).into());
        assert!(tests::stored(&store, "movies").await[3].get("cold").unwrap().is_none());
    }
}
