//! Exports, imports and copies of all that a store has, by a program without models.

use std::time::Duration;

use odm::{
    Collections, Embedded, ErrorKind,
    bson::{RawDocumentBuf, doc, rawdoc},
    mql::Filter,
    prelude::*,
};
use tests::{AnyStore, on_embedded_stores, on_every_store};
use tokio::io::AsyncWriteExt;

use super::{
    Library,
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

const COLD_LINE: &str =
    r#"{"collection":"notes_of_shelves","document":{"_id":1,"shelf":1,"text":"dusty"}}"#;

on_every_store! {
    async fn a_database_that_is_opened_later_is_followed_by_exports_and_imports(store: AnyStore) {
        let collections = Collections::open(store.clone()).await.unwrap();
        let (library, _) = filled(store).await;
        let lines = exported(&collections).await.unwrap();
        assert!(lines.starts_with(r#"{"export":1,"database":"library","version":1,"documents":6"#), "{lines}");
        // Cold parts come with their documents, and shelves before the books that refer to them.
        assert!(!lines.contains("notes_of_shelves") && lines.contains("dusty"), "{lines}");
        assert!(lines.lines().nth(1).unwrap().contains(r#""collection":"shelves""#), "{lines}");

        let head = r#"{"export":1,"database":"library","version":1,"documents":1}"#;
        let other = in_memory().await;
        let of_other = Collections::open(other.clone()).await.unwrap();
        let files = Collections::open(other.clone()).await.unwrap();
        let _library = Library::open(other).await.unwrap();
        let error = of_other.import(format!("{head}\n{COLD_LINE}").as_bytes()).await.unwrap_err();
        assert!(error.to_string().starts_with("line 2: collection `notes_of_shelves` has the cold parts"), "{error}");
        let file = r#"{"_id":1,"shelf":1,"text":"dusty"}"#;
        let error = files.import_files().file_into("notes_of_shelves", file.as_bytes()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidImport, "{error}");
        library.audit().await.unwrap();
    }

    async fn a_database_that_is_opened_during_an_import_is_followed(store: AnyStore) {
        let collections = Collections::open(store.clone()).await.unwrap();
        let (mut writer, reader) = tokio::io::duplex(1 << 10);
        let head = r#"{"export":1,"database":"","version":0,"documents":1}"#;
        let import = async { collections.import(tokio::io::BufReader::new(reader)).await };
        let open = async {
            writer.write_all(format!("{head}\n{COLD_LINE}\n").as_bytes()).await.unwrap();
            // The import reads the line, and waits for more of them before it stores a unit.
            tokio::time::sleep(Duration::from_millis(50)).await;
            let library = Library::open(store.clone()).await.unwrap();
            drop(writer);
            library
        };
        let (imported, library) = tokio::join!(import, open);
        let error = imported.unwrap_err();
        assert!(error.to_string().contains("`notes_of_shelves`"), "{error}");
        assert_eq!(library.audit().await.unwrap(), []);
    }
}

/// A store with the tickets of a desk and the books of a library.
async fn both(store: AnyStore) -> (Collections, Desk) {
    let (_, collections) = filled(store.clone()).await;
    let desk = Desk::open(store).await.unwrap();
    collections.collection("tickets").insert([rawdoc! { "_id": 1 }]).await.unwrap();
    (collections, desk)
}

async fn refused_import(into: &Collections, lines: &str, says: &str) {
    let error = into.import(lines.as_bytes()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidImport, "{error}");
    assert!(error.to_string().contains(says), "{error}");
}

on_every_store! {
    async fn an_export_of_several_databases_names_all_and_is_imported_where_all_are(store: AnyStore) {
        let (collections, _desk) = both(store).await;
        let lines = exported(&collections).await.unwrap();
        let head = r#"{"export":1,"database":"","version":0,"databases":{"desk":1,"library":1},"documents":7"#;
        assert!(lines.starts_with(head), "{lines}");

        let target = in_memory().await;
        let copy = Collections::open(target.clone()).await.unwrap();
        let library = Library::open(target.clone()).await.unwrap();
        refused_import(&copy, &lines, "the store does not have `desk`").await;
        let desk = Desk::open(target).await.unwrap();
        assert_eq!(copy.import(lines.as_bytes()).await.unwrap(), 7);
        assert_eq!((desk.audit().await.unwrap(), library.audit().await.unwrap()), (vec![], vec![]));

        let target = in_memory().await;
        let _library = Library::open(target.clone()).await.unwrap();
        let later = later::Desk::open(target.clone()).await.unwrap();
        let copy = Collections::open(target).await.unwrap();
        refused_import(&copy, &lines, "version 1 of the database `desk` and version 1 of the database `library`, and the store has version 2 of `desk`").await;
        assert_eq!(copy.collection("books").find(Filter::default()).count().await.unwrap(), 0);
        // A program that has one of them cannot tell which documents are its own.
        let error = later.import(lines.as_bytes()).await.unwrap_err();
        assert!(error.to_string().contains("and not of version 2 of `desk`"), "{error}");
    }

    async fn documents_of_no_database_are_not_imported_into_collections_of_one(store: AnyStore) {
        let (collections, _desk) = both(store).await;
        let of = |collection: &str| format!(
            r#"{{"export":1,"database":"","version":0,"documents":1}}
            {{"collection":"{collection}","document":{{"_id":77}}}}"#
        );
        refused_import(&collections, &of("tickets"), "line 2: collection `tickets` is of the database `desk`").await;
        assert_eq!(collections.import(of("visits").as_bytes()).await.unwrap(), 1);
    }
}
