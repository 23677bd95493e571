//! Exports, imports and copies of all that a store has, by a program without models.

use std::time::Duration;

use odm::{Collections, Embedded, ErrorKind, bson::rawdoc, mql::Filter, prelude::*};
use tests::{AnyStore, on_embedded_stores, on_every_store, stored};
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

/// The names of the databases and the number of the recorded indexes in the catalog of a store.
async fn declared(store: &Embedded) -> (Vec<String>, usize) {
    let catalog = stored(store, "_odm_catalog").await;
    let ids = catalog.iter().map(|of| of.get_str("_id").unwrap());
    let databases = ids.filter_map(|id| id.strip_prefix("database ")).map(str::to_owned);
    let indexes = catalog.iter().find(|of| of.get_str("_id").unwrap() == "indexes");
    let indexes = indexes.map_or(0, |of| of.get_array("made").unwrap().into_iter().count());
    (databases.collect(), indexes)
}

async fn refused_copy(source: &Collections, target: &Collections, says: &str) {
    let error = source.copy_to(target).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidImport, "{error}");
    assert!(error.to_string().contains(says), "{error}");
}

on_every_store! {
    async fn a_copy_into_other_databases_or_versions_is_refused(store: AnyStore) {
        let (source, _desk) = both(store).await;
        for with_library in [false, true] {
            let target = in_memory().await;
            if with_library {
                Library::open(target.clone()).await.unwrap();
            }
            let later = later::Desk::open(target.clone()).await.unwrap();
            let copy = Collections::open(target).await.unwrap();
            let says = "version 2 of the database `desk`";
            refused_copy(&source, &copy, says).await;
            for name in ["tickets", "books", "shelves"] {
                assert_eq!(copy.collection(name).find(Filter::default()).count().await.unwrap(), 0);
            }
            later.audit().await.unwrap();
        }
        let target = in_memory().await;
        let copy = Collections::open(target.clone()).await.unwrap();
        let library = Library::open(target.clone()).await.unwrap();
        // The tickets of the source would be of no database.
        refused_copy(&source, &copy, "target has version 1 of the database `library`, and the source version 1 of the database `desk`").await;
        let desk = Desk::open(target).await.unwrap();
        assert_eq!(source.copy_to(&copy).await.unwrap().documents, 7);
        assert_eq!((desk.audit().await.unwrap(), library.audit().await.unwrap()), (vec![], vec![]));
    }

    async fn a_refused_copy_declares_no_database_on_the_target(store: AnyStore) {
        let (source, _desk) = both(store.clone()).await;
        let target = in_memory().await;
        let copy = Collections::open(target.clone()).await.unwrap();
        // A document that the source lacks, and one that it has, of which nobody has computed the rest.
        for (id, indexes) in [(99, 0), (1, 1)] {
            copy.collection("tickets").insert([rawdoc! { "_id": id }]).await.unwrap();
            refused_copy(&source, &copy, "target has other documents").await;
            let (databases, recorded) = declared(&target).await;
            assert_eq!((databases, recorded.min(1)), (vec![], indexes));
            copy.collection("tickets").delete(Filter::default()).await.unwrap();
        }
        // The indexes that it has made are on record, so that they are not left for good.
        let desk = Desk::open(target.clone()).await.unwrap();
        assert_eq!(desk.audit().await.unwrap(), []);
        let list = copy.list().await.unwrap();
        let books = list.iter().find(|of| of.name == "books").unwrap();
        assert_eq!(books.indexes, []);
        drop(desk);

        let (databases, _) = declared(&target).await;
        assert_eq!(databases, ["desk"]);
        let target = in_memory().await;
        let copy = Collections::open(target.clone()).await.unwrap();
        source.copy_to(&copy).await.unwrap();
        assert_eq!(declared(&target).await.0, ["desk", "library"]);
        assert_eq!(source.copy_to(&copy).await.unwrap().found, 7);
    }

    async fn a_source_with_a_pending_field_leaves_the_target_as_it_is(store: AnyStore) {
        let source = Collections::open(store.clone()).await.unwrap();
        source.collection("tickets").insert([rawdoc! { "_id": 1 }]).await.unwrap();
        let desk = Desk::open(store).await.unwrap();
        assert_eq!(desk.pending_backfills(), ["tickets.notes"]);
        let target = in_memory().await;
        let copy = Collections::open(target.clone()).await.unwrap();
        assert_eq!(source.copy_to(&copy).await.unwrap_err().kind(), ErrorKind::Schema);
        assert_eq!(declared(&target).await, (vec![], 0));
    }
}
