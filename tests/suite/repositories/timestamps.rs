//! Empty timestamps, which MongoDB fills in writes of whole documents.

use odm::{
    bson::{Timestamp, doc},
    prelude::*,
};
use serde::{Deserialize, Serialize};
use tests::{on_every_store, stored};

const EMPTY: Timestamp = Timestamp { time: 0, increment: 0 };

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "entries")]
struct Entry {
    #[serde(rename = "_id")]
    id: i32,
    at: Timestamp,
    and: Option<Timestamp>,
    #[embed]
    inner: Inner,
    text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Inner {
    at: Timestamp,
}

/// The same in a collection whose whole documents are replaced through the unit of work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "counted")]
struct Counted {
    #[serde(rename = "_id")]
    id: Timestamp,
    at: Timestamp,
    #[version]
    version: i64,
}

#[derive(Database)]
#[database(name = "log", version = 1)]
struct Log {
    entries: Repository<Entry>,
    counted: Repository<Counted>,
}

fn entry(id: i32) -> Entry {
    Entry { id, at: EMPTY, and: Some(EMPTY), inner: Inner { at: EMPTY }, text: String::new() }
}

on_every_store! {
    async fn empty_timestamps_get_increasing_times_in_whole_documents(store: AnyStore) {
        let db = Log::open(store.clone()).await.unwrap();
        let mut last = Timestamp { time: 1_700_000_000, increment: 0 };
        let mut increases = |entry: Entry| {
            let and = entry.and.unwrap();
            assert!(last < entry.at && entry.at < and, "{last:?} {entry:?}");
            assert_eq!(entry.inner.at, EMPTY);
            last = and;
        };
        increases(db.entries.insert(entry(1)).await.unwrap());
        for entry in db.entries.insert_many([entry(2), entry(3)]).await.unwrap() {
            increases(entry);
        }
        increases(db.entries.replace(entry(2)).await.unwrap());
        increases(db.entries.upsert(entry(3)).await.unwrap());
        let returned = db.entries.upsert(entry(4)).await.unwrap();
        increases(returned.clone());
        assert_eq!(db.entries.get(4).await.unwrap(), returned);
        // A timestamp that is not empty stays.
        assert_eq!(db.entries.replace(returned.clone()).await.unwrap(), returned);
        let only = Entry { and: None, ..returned.clone() };
        assert_eq!(db.entries.upsert(only.clone()).await.unwrap(), only);

        let counted = |version| Counted { id: EMPTY, at: EMPTY, version };
        let first = db.counted.insert(counted(0)).await.unwrap();
        let second = db.counted.replace(counted(first.version)).await.unwrap();
        assert!(EMPTY < first.at && first.at < second.at);
        assert_eq!((second.id, second.version), (EMPTY, 2));
        assert_eq!(db.counted.get(EMPTY).await.unwrap(), second);
    }

    async fn empty_timestamps_stay_in_updates_of_fields(store: AnyStore) {
        let db = Log::open(store.clone()).await.unwrap();
        let (set, inner) = (doc! { "at": EMPTY, "and": EMPTY }, doc! { "at": EMPTY });
        db.entries.insert(entry(1)).await.unwrap();
        db.entries.update(1).raw(doc! { "$set": set.clone() }).await.unwrap();
        db.entries.insert(entry(2)).await.unwrap();
        db.entries.modify(2, |entry| (entry.at, entry.and) = (EMPTY, Some(EMPTY))).await.unwrap();
        let mut whole = set.clone();
        whole.extend(doc! { "inner": inner, "text": "" });
        for (id, update) in [(3, doc! { "$set": &whole }), (4, doc! { "$setOnInsert": whole })] {
            let upsert = db.entries.update_where(Entry::fields().id.eq(id)).upsert();
            assert!(upsert.raw(update).await.unwrap().inserted);
        }
        for document in stored(&store, "entries").await {
            for field in ["at", "and"] {
                assert_eq!(document.get_timestamp(field).unwrap(), EMPTY, "{document:?}");
            }
        }
    }
}
