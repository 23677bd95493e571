//! Versions of documents that programs with different models write.

use odm::{ErrorKind, bson::doc, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_every_store};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "notes")]
struct Note {
    #[serde(rename = "_id")]
    id: i32,
    text: String,
    #[version]
    revision: i64,
}

#[derive(Database)]
#[database(name = "versioned", version = 1)]
struct Versioned {
    notes: Repository<Note>,
}

mod plain {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "notes")]
    pub(super) struct Note {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        pub(super) text: String,
    }

    #[derive(Database)]
    #[database(name = "plain", version = 1)]
    pub(super) struct Plain {
        pub(super) notes: Repository<Note>,
    }
}

mod contrary {
    use super::*;

    #[derive(Debug, Clone, Serialize, Deserialize, Document)]
    #[document(collection = "notes")]
    struct Note {
        #[serde(rename = "_id")]
        id: i32,
        text: String,
        #[version]
        edition: i64,
    }

    #[derive(Database)]
    #[database(name = "contrary", version = 1)]
    #[allow(dead_code, reason = "it cannot be opened beside the other")]
    pub(super) struct Contrary {
        notes: Repository<Note>,
    }
}

on_every_store! {
    async fn a_program_without_the_version_replaces_and_the_version_counts_it(store: impl TestStore) {
        let plain = plain::Plain::open(store.clone()).await.unwrap();
        let db = Versioned::open(store).await.unwrap();
        let note = |text: &str| plain::Note { id: 1, text: text.into() };
        db.notes.insert(Note { id: 1, text: "a".into(), revision: 0 }).await.unwrap();
        plain.notes.replace(note("b")).await.unwrap();
        assert_eq!(db.notes.get(1).await.unwrap().revision, 2);
        plain.notes.upsert(note("c")).await.unwrap();
        plain.notes.upsert(note("c")).await.unwrap();
        plain.notes.update(1).raw(doc! { "$set": { "text": "d" } }).await.unwrap();
        let stored = db.notes.get(1).await.unwrap();
        assert_eq!((stored.text.as_str(), stored.revision), ("d", 4));
        // Who read an older one is told.
        let stale = db.notes.replace(Note { revision: 2, ..stored.clone() }).await.unwrap_err();
        assert_eq!(stale.kind(), ErrorKind::Stale);
        assert_eq!(db.notes.replace(stored.clone()).await.unwrap(), stored);
        plain.notes.delete(1).await.unwrap();
        plain.notes.upsert(note("e")).await.unwrap();
        assert_eq!(db.notes.get(1).await.unwrap().revision, 1);
    }

    async fn two_programs_with_different_versions_of_one_model_are_refused(store: impl TestStore) {
        Versioned::open(store.clone()).await.unwrap();
        let error = contrary::Contrary::open(store).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Schema);
        assert!(error.to_string().contains("`notes.edition`"), "{error}");
    }
}
