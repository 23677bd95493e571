//! Writing whole values, and paths into either part.

use odm::{
    ErrorKind,
    bson::{Document, doc},
    measure,
    prelude::*,
    store::contract::Store,
};
use tests::{TestStore, on_every_store};

use super::{Details, Imdb, Movie, Movies, Script, Star, details, movie};

async fn movies(store: impl TestStore) -> Movies {
    let db = Movies::open(store).await.unwrap();
    db.movies.insert_many((1..=4).map(movie)).await.unwrap();
    db
}

async fn whole(db: &Movies, id: i32) -> Movie {
    let fields = Movie::fields();
    db.movies.get(id).with(fields.details).with(fields.script).await.unwrap()
}

/// The stored documents of a collection.
async fn raw(store: &impl Store, collection: &str) -> Vec<Document> {
    let stored = tests::stored(store, collection).await;
    let documents = stored.iter().map(|raw| raw.try_into().unwrap());
    documents.collect()
}

on_every_store! {
    async fn both_cold_parts_are_stored_and_the_hot_one_has_no_trace_of_the_other(store: AnyStore) {
        let db = Movies::open(store.clone()).await.unwrap();
        let sent = Movie { script: Script { text: "fade in".into() }.into(), ..movie(1) };
        let stored = db.movies.insert(sent.clone()).await.unwrap();
        assert_eq!(stored, Movie { revision: 1, ..sent });
        assert_eq!(raw(&store, "movies").await, [doc! {
            "_id": 1, "title": "movie 1", "releaseYear": 1901, "revision": 1_i64,
        }]);
        let mut part = raw(&store, "movie_details").await.remove(0);
        assert!(part.remove("_id").unwrap().as_object_id().is_some());
        assert_eq!(part, doc! {
            "movie_id": 1, "plot": "plot 1", "tags": ["old", "tag 1"],
            "imdb": { "rating": 1.0, "votes": 1_i64 }, "star": null,
        });
        assert_eq!(raw(&store, "movie_scripts").await, [doc! { "_id": 1, "text": "fade in" }]);
    }

    async fn a_replace_leaves_a_cold_part_that_is_not_loaded_and_stores_one_that_is(store: AnyStore) {
        let db = movies(store).await;
        let mut hot = db.movies.get(1).await.unwrap();
        assert!(!hot.details.is_loaded());
        hot.title = "new".into();
        let stored = db.movies.replace(hot).await.unwrap();
        assert_eq!(whole(&db, 1).await.details, details(1).into());
        let sent = Movie { details: details(9).into(), ..stored };
        let stored = db.movies.replace(sent.clone()).await.unwrap();
        assert_eq!((&stored.title, stored.details.get()), (&"new".into(), Some(&details(9))));
        assert_eq!(whole(&db, 1).await, stored);
        // The version counts even if only the cold part is new.
        assert_eq!(stored.revision, 3);
    }

    async fn an_upsert_stores_both_cold_parts_or_leaves_the_cold_one(store: AnyStore) {
        let db = movies(store).await;
        db.movies.upsert(movie(7)).await.unwrap();
        assert_eq!(whole(&db, 7).await.details, details(7).into());
        let hot = db.movies.get(7).await.unwrap();
        db.movies.upsert(hot).await.unwrap();
        assert_eq!(whole(&db, 7).await.details, details(7).into());
    }

    async fn updates_by_path_go_to_the_cold_part_they_lead_into(store: AnyStore) {
        let db = movies(store).await;
        let fields = Movie::fields();
        let (result, cost) = measure(async {
            db.movies.update(1)
                .set(fields.title, "both")
                .set(fields.details.plot, "new plot")
                .inc(fields.details.imdb.votes, 10)
                .push(fields.details.tags, "more")
                .await
        }).await;
        result.unwrap();
        assert!(cost.documents_written <= 3, "{cost:?}");
        let after = whole(&db, 1).await;
        assert_eq!(after.title, "both");
        assert_eq!(after.revision, 2);
        let part = after.details.get().unwrap();
        assert_eq!((part.plot.as_str(), part.imdb.votes, part.tags.len()), ("new plot", 11, 3));

        let many = db.movies.update_where(fields.release_year.gt(1902))
            .set(fields.details.imdb, Imdb { rating: 9.5, votes: 0 }).await.unwrap();
        assert_eq!((many.matched, many.modified), (2, 2));
        assert_eq!(whole(&db, 4).await.details.get().unwrap().imdb.rating, 9.5);
        assert_eq!(whole(&db, 4).await.revision, 2, "the version counts changes of either part");
        assert_eq!(whole(&db, 2).await.details, details(2).into());

        db.movies.update(2).set(fields.details, details(20)).await.unwrap();
        assert_eq!(whole(&db, 2).await.details, details(20).into());
        db.movies.update(2).raw(doc! { "$set": { "cold.plot": "raw" } }).await.unwrap();
        assert_eq!(whole(&db, 2).await.details.get().unwrap().plot, "raw");
        let same = db.movies.update_where(fields.id.eq(2)).set(fields.details.plot, "raw").await;
        assert_eq!((same.unwrap().modified, whole(&db, 2).await.revision), (0, 3));
    }

    async fn modify_can_set_a_half(store: AnyStore) {
        let db = movies(store).await;
        let after = db.movies.modify(1, |movie| {
            movie.title = "modified".into();
            movie.details = details(30).into();
        }).await.unwrap();
        assert_eq!(after.details, details(30).into());
        assert_eq!(whole(&db, 1).await, after);
        db.movies.modify(1, |movie| movie.title = "again".into()).await.unwrap();
        assert_eq!(whole(&db, 1).await.details, details(30).into());
    }

    async fn a_cold_part_that_is_not_there_has_no_fields_to_change(store: AnyStore) {
        let db = movies(store).await;
        let fields = Movie::fields();
        let error = db.movies.update(1).set(fields.script.text, "x").await.unwrap_err();
        assert!(error.is_not_found());
        assert!(error.to_string().contains("`movie_scripts`"), "{error}");
        let all = db.movies.update_where(Filter::all()).set(fields.title, "t").set(fields.script.text, "x");
        all.await.unwrap_err();
        assert_eq!(whole(&db, 1).await, Movie { revision: 1, ..movie(1) }, "nothing was stored");
        db.movies.update(1).set(fields.script, Script { text: "y".into() }).await.unwrap();
        db.movies.update(1).set(fields.script.text, "x").await.unwrap();
        assert_eq!(whole(&db, 1).await.script.get().unwrap().text, "x");
    }

    async fn a_delete_removes_both_cold_parts(store: AnyStore) {
        let db = movies(store.clone()).await;
        assert!(db.movies.delete(1).await.unwrap());
        assert_eq!(raw(&store, "movie_details").await.len(), 3);
        let fields = Movie::fields();
        let deleted = db.movies.delete_where(fields.details.imdb.rating.gte(3.0)).await.unwrap();
        assert_eq!(deleted, 2);
        assert_eq!(raw(&store, "movie_details").await.len(), 1);
        db.movies.delete_where(Filter::all()).await.unwrap();
        assert!(raw(&store, "movie_details").await.is_empty());
    }

    async fn an_upsert_by_a_filter_makes_both_cold_parts(store: AnyStore) {
        let db = movies(store).await;
        let fields = Movie::fields();
        let updated = db.movies.update_where(fields.id.eq(50)).upsert()
            .set(fields.title, "fifty").set(fields.release_year, 1950)
            .set(fields.details, details(50)).await.unwrap();
        assert!(updated.inserted);
        assert_eq!(whole(&db, 50).await.details, details(50).into());
        assert_eq!(whole(&db, 50).await.revision, 1);
    }

    async fn what_the_library_keeps_in_a_cold_part_cannot_be_updated(store: AnyStore) {
        let db = movies(store).await;
        for update in [
            doc! { "$set": { "cold.movie_id": 3 } },
            doc! { "$set": { "cold._id": 3 } },
            doc! { "$unset": { "cold": "" } },
            doc! { "$set": { "cold": 5 } },
            doc! { "$set": { "cold": null } },
            doc! { "$rename": { "cold.plot": "plot" } },
            doc! { "$rename": { "title": "cold.title" } },
            doc! { "$rename": { "cold.plot": "cold.movie_id" } },
            doc! { "$inc": { "cold": 1 } },
        ] {
            let error = db.movies.update(1).raw(update.clone()).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{update}: {error}");
            assert!(error.to_string().contains('`'), "{error}");
        }
        assert_eq!(whole(&db, 1).await, Movie { revision: 1, ..movie(1) });
        let error = db.movies.update(1).raw(doc! { "$rename": { "cold.plot": "cold.was" } }).await;
        assert!(error.unwrap_err().is_invalid(), "a cold part has a plot");
    }

    async fn references_in_a_cold_part_are_checked_and_restrict(store: AnyStore) {
        let db = movies(store).await;
        let fields = Movie::fields();
        let starring = |id| Details { star: Some(Ref::new(id)), ..details(1) };
        let error = db.movies.insert(Movie { details: starring(1).into(), ..movie(9) }).await;
        assert_eq!(error.unwrap_err().kind(), ErrorKind::DanglingReference);
        assert!(db.movies.get(9).optional().await.unwrap().is_none());
        db.stars.insert(Star { id: 1, name: "Ada".into() }).await.unwrap();
        db.movies.update(1).set(fields.details.star, 1).await.unwrap();
        assert!(db.stars.delete(1).await.unwrap_err().is_restricted());
        db.movies.delete(1).await.unwrap();
        assert!(db.stars.delete(1).await.unwrap());
    }

    async fn a_transaction_that_is_rolled_back_leaves_no_half(store: AnyStore) {
        let db = movies(store.clone()).await;
        let result: odm::Result<()> = db.transaction(async |db| {
            db.movies.insert(movie(9)).await?;
            db.movies.update(1).set(Movie::fields().details.plot, "lost").await?;
            assert_eq!(db.movies.get(9).with(Movie::fields().details).await?.details, details(9).into());
            db.movies.get(1000).await.map(drop)
        }).await;
        result.unwrap_err();
        assert_eq!(raw(&store, "movie_details").await.len(), 4);
        assert_eq!(whole(&db, 1).await.details, details(1).into());
    }
}
