//! Exports, imports and copies of all that a store has, by a program without models.

use odm::{
    Collections, Embedded, ErrorKind,
    bson::{RawDocumentBuf, doc, rawdoc},
    mql::Filter,
    prelude::*,
};
use tests::{on_embedded_stores, on_every_store};

use super::{
    declared::{Desk, later},
    filled,
};

async fn exported(collections: &Collections) -> odm::Result<String> {
    let mut lines = Vec::new();
    collections.export(&mut lines).await?;
    Ok(String::from_utf8(lines).expect("it is text"))
}

async fn in_memory() -> Embedded {
    Embedded::memory().await.expect("it opens")
}

on_embedded_stores! {
    async fn an_export_in_a_transaction_has_the_collections_that_it_has_made(store: AnyStore) {
        let collections = Collections::open(store).await.unwrap();
        let unit = collections.begin().await.unwrap();
        let drafts = unit.collection("drafts");
        drafts.create().await.unwrap();
        drafts.insert([rawdoc! { "_id": 1 }]).await.unwrap();
        assert!(exported(&unit).await.unwrap().contains(r#""collection":"drafts""#));
        assert!(!exported(&collections).await.unwrap().contains("drafts"));
    }

    async fn a_snapshot_of_which_a_collection_is_gone_is_not_exported(store: AnyStore) {
        let collections = Collections::open(store.clone()).await.unwrap();
        for name in ["notes", "drafts"] {
            collections.collection(name).insert([rawdoc! { "_id": 1 }]).await.unwrap();
        }
        let snapshot = collections.snapshot().await.unwrap();
        assert_eq!(exported(&snapshot).await.unwrap().lines().count(), 3);
        collections.collection("notes").drop().await.unwrap();
        let error = exported(&snapshot).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidQuery);
        assert!(error.to_string().contains("changed since the snapshot began"), "{error}");
        drop(snapshot);
        assert_eq!(exported(&collections).await.unwrap().lines().count(), 2);
    }

    async fn an_export_of_a_state_before_a_migration_does_not_name_the_version_after_it(store: AnyStore) {
        let _desk = Desk::open(store.clone()).await.unwrap();
        let collections = Collections::open(store.clone()).await.unwrap();
        let snapshot = collections.snapshot().await.unwrap();
        let _later = later::Desk::open(store).await.unwrap();
        assert_eq!(exported(&snapshot).await.unwrap_err().kind(), ErrorKind::InvalidQuery);
        drop(snapshot);
        assert!(exported(&collections).await.unwrap().contains(r#""database":"desk","version":2"#));
    }
}
