//! A new document needs its cold parts, unless they are optional.

use odm::{
    Collections, Embedded, ErrorKind,
    bson::{doc, rawdoc},
    mql::{Filter, Update},
    prelude::*,
};
use tests::{TestStore, insert_behind_the_back, on_every_store, stored};

use super::{Movie, Movies, movie};

const MESSAGE: &str = "missing cold part: a new document of `movies` needs a value of `cold`, which is stored in `movie_details`";

fn assert_refused<T: std::fmt::Debug>(written: odm::Result<T>) {
    let error = written.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert!(error.to_string().contains(MESSAGE), "{error}");
    let location = error.location().expect("it names the field");
    assert_eq!((location.collection.as_str(), location.path.as_deref()), ("movies", Some("cold")));
}

/// A movie of an older library, which stored it without its details.
async fn insert_old(store: &impl TestStore) {
    let hot = doc! { "_id": 4, "title": "movie 4", "releaseYear": 1904, "revision": 1_i64 };
    insert_behind_the_back(store, "movies", hot).await;
}

on_every_store! {
    async fn no_write_makes_a_document_without_a_cold_part(store: AnyStore) {
        let db = Movies::open(store.clone()).await.unwrap();
        let bare = |id| Movie { details: Cold::unloaded(), ..movie(id) };
        assert_refused(db.movies.insert(bare(1)).await);
        assert_refused(db.movies.insert_many([movie(2), bare(1)]).await);
        assert_refused(db.movies.upsert(bare(1)).await);
        let raw = || rawdoc! { "_id": 1, "title": "movie 1", "releaseYear": 1901 };
        let movies = Collections::open(store.clone()).await.unwrap().collection("movies");
        assert_refused(movies.insert([raw()]).await);
        let first = || Filter::parse(&doc! { "_id": 1 }).unwrap();
        assert_refused(movies.update(first(), raw()).upsert().await);
        let set = Update::parse(&doc! { "$set": { "title": "x", "releaseYear": 1901 } }, &[]).unwrap();
        assert_refused(movies.update(first(), set).upsert().await);
        let line = r#"{"_id":1,"title":"movie 1","releaseYear":1901}"#;
        assert_refused(db.import_files().file::<Movie>(line.as_bytes()).await);
        assert_eq!(stored(&store, "movies").await, []);

        // A stored document keeps its part if a replacement does not bring one.
        db.movies.insert(movie(1)).await.unwrap();
        db.movies.upsert(Movie { revision: 1, ..bare(1) }).await.unwrap();
        movies.update(first(), raw()).upsert().await.unwrap();
        assert_eq!(db.audit().await.unwrap(), []);
    }

    async fn a_document_from_before_without_a_cold_part_is_exported_imported_and_copied(store: AnyStore) {
        let memory = Embedded::memory().await.unwrap();
        let db = Movies::open(memory.clone()).await.unwrap();
        db.movies.insert(movie(1)).await.unwrap();
        insert_old(&memory).await;
        let found = db.audit().await.unwrap();
        assert_eq!(found.len(), 1);
        let mut lines = Vec::new();
        db.export(&mut lines).await.unwrap();
        let imported = Movies::open(Embedded::memory().await.unwrap()).await.unwrap();
        assert_eq!(imported.import(&lines[..]).await.unwrap(), 2);
        assert_eq!(imported.audit().await.unwrap(), found);
        let copy = Movies::open(store).await.unwrap();
        db.copy_to(&copy).await.unwrap();
        assert_eq!(copy.audit().await.unwrap(), found);
    }
}
