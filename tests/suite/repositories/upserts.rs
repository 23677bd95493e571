//! Updates that insert a document if none matches.

use odm::{ErrorKind, bson::doc, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{on_every_store, stored};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "counters")]
struct Counter {
    #[serde(rename = "_id")]
    id: String,
    hits: i64,
    #[serde(default)]
    kind: String,
    last: Option<DateTime>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "versioned")]
struct Versioned {
    #[serde(rename = "_id")]
    id: i64,
    hits: i64,
    #[version]
    version: i32,
}

#[derive(Database)]
#[database(name = "counters", version = 1)]
struct Counters {
    counters: Repository<Counter>,
    versioned: Repository<Versioned>,
}

on_every_store! {
    async fn an_update_inserts_what_filter_and_changes_say(store: AnyStore) {
        let db = Counters::open(store).await.unwrap();
        let counter = Counter::fields();
        let hit = || db.counters.update_where(counter.id.eq("home")).inc(counter.hits, 1).upsert();
        let done = hit().await.unwrap();
        assert_eq!((done.matched, done.modified, done.inserted), (0, 0, true));
        let done = hit().await.unwrap();
        assert_eq!((done.matched, done.modified, done.inserted), (1, 1, false));
        let home = db.counters.get("home").await.unwrap();
        assert_eq!(home, Counter { id: "home".into(), hits: 2, kind: String::new(), last: None });

        // The other values that the filter fixes are in the document as well.
        let page = counter.id.eq("about") & counter.kind.eq("page") & counter.hits.gt(-1);
        let set = doc! { "$setOnInsert": { "last": DateTime::from_millis(5) } };
        let about = db.counters.update_where(page).set(counter.hits, 7).raw(set).upsert();
        assert!(about.await.unwrap().inserted);
        let about = db.counters.get("about").await.unwrap();
        assert_eq!((about.kind.as_str(), about.hits), ("page", 7));
        assert_eq!(about.last, Some(DateTime::from_millis(5)));
    }

    async fn many_tasks_that_upsert_one_document_make_one(store: AnyStore) {
        let db = Counters::open(store).await.unwrap();
        let mut tasks = Vec::new();
        for _ in 0..64 {
            let counters = db.counters.clone();
            tasks.push(tokio::spawn(async move {
                let counter = Counter::fields();
                let hit = counters.update_where(counter.id.eq("home")).inc(counter.hits, 1);
                hit.upsert().await.unwrap().inserted
            }));
        }
        let mut inserted = 0;
        for task in tasks {
            inserted += usize::from(task.await.unwrap());
        }
        assert_eq!(inserted, 1);
        assert_eq!(db.counters.all().one().await.unwrap().hits, 64);
    }

    async fn an_upsert_that_could_not_make_a_whole_document_is_refused(store: AnyStore) {
        let db = Counters::open(store.clone()).await.unwrap();
        let counter = Counter::fields();
        let home = || counter.id.eq("home");
        // Without the number; without the id; with an id that is not fixed.
        let number = db.counters.update_where(home()).set(counter.kind, "page").upsert();
        let error = number.await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{error}");
        assert!(error.to_string().contains("hits"), "{error}");
        for filter in [counter.kind.eq("page"), counter.id.gt("a"), home() | counter.id.eq("b")] {
            let error = db.counters.update_where(filter).set(counter.hits, 1).upsert().await;
            let error = error.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{error}");
            assert!(error.to_string().contains("_id"), "{error}");
        }
        assert!(stored(&store, "counters").await.is_empty());
        // Whether or not a document matches: otherwise the mistake would only appear in production.
        db.counters.update_where(home()).set(counter.hits, 1).upsert().await.unwrap();
        let again = db.counters.update_where(home()).set(counter.kind, "page").upsert();
        assert_eq!(again.await.unwrap_err().kind(), ErrorKind::InvalidQuery);
    }

    async fn an_upsert_of_what_has_a_version_starts_to_count(store: AnyStore) {
        let db = Counters::open(store.clone()).await.unwrap();
        let fields = Versioned::fields();
        let hit = || db.versioned.update_where(fields.id.eq(1)).inc(fields.hits, 1).upsert();
        assert!(hit().await.unwrap().inserted);
        assert_eq!(db.versioned.get(1).await.unwrap(), Versioned { id: 1, hits: 1, version: 1 });
        assert!(!hit().await.unwrap().inserted);
        assert_eq!(db.versioned.get(1).await.unwrap(), Versioned { id: 1, hits: 2, version: 2 });
        // The caller may not set it.
        let set = doc! { "$set": { "version": 9 } };
        let two = db.versioned.update_where(fields.id.eq(2)).inc(fields.hits, 1).raw(set).upsert();
        assert_eq!(two.await.unwrap_err().kind(), ErrorKind::InvalidQuery);
    }

    async fn a_version_keeps_its_type(store: AnyStore) {
        let db = Counters::open(store.clone()).await.unwrap();
        db.versioned.insert(Versioned { id: 1, hits: 0, version: 0 }).await.unwrap();
        for step in 1..5 {
            let version = stored(&store, "versioned").await[0].get_i32("version");
            assert_eq!(version.expect("an `i32` is stored as one"), step);
            match step {
                1 => db.versioned.update(1).inc(Versioned::fields().hits, 1).await.unwrap(),
                2 => drop(db.versioned.modify(1, |doc| doc.hits += 1).await.unwrap()),
                _ => {
                    let read = db.versioned.get(1).await.unwrap();
                    db.versioned.replace(Versioned { hits: read.hits + 1, ..read }).await.unwrap();
                }
            }
        }
    }
}
