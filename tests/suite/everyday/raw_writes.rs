//! Writes of documents as BSON, with all their consequences.

use odm::{
    ErrorKind,
    bson::{RawDocumentBuf, rawdoc},
    prelude::*,
};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_every_store};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "shelves")]
struct Shelf {
    #[serde(rename = "_id")]
    id: i32,
    room: String,
    #[count(of = "Book")]
    books: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[index(unique)]
    title: String,
    #[reference(parent)]
    shelf: Ref<Shelf>,
    #[denormalize(from = "Shelf.room")]
    room: String,
    #[split(collection = "texts", key = "book")]
    text: Cold<Text>,
    #[version]
    revision: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Text {
    first: String,
}

/// Its writes have no consequences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "notes")]
struct Note {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(default)]
    text: String,
}

/// Any document must be readable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "scraps", validation(level = "off"))]
struct Scrap {
    #[serde(rename = "_id")]
    id: i32,
    text: String,
}

#[derive(Database)]
#[database(name = "library", version = 1)]
struct Library {
    scraps: Repository<Scrap>,
    shelves: Repository<Shelf>,
    books: Repository<Book>,
    notes: Repository<Note>,
}

async fn library(store: impl TestStore) -> Library {
    let library = Library::open(store).await.unwrap();
    let shelves = [1, 2].map(|id| rawdoc! { "_id": id, "room": "east", "height": 3 });
    library.shelves.raw().insert_many(shelves).await.unwrap();
    library
}

fn book(id: i32, shelf: i32) -> RawDocumentBuf {
    rawdoc! { "_id": id, "title": format!("book {id}"), "shelf": shelf, "text": { "first": "Once" }, "lent": true }
}

on_every_store! {
    async fn a_raw_document_is_stored_with_all_that_follows(store: AnyStore) {
        let library = library(store).await;
        let stored = library.books.raw().insert(book(1, 1)).await.unwrap();
        assert_eq!(stored.get_str("room").unwrap(), "east");
        assert_eq!(stored.get_i64("revision").unwrap(), 1);
        assert!(stored.get_bool("lent").unwrap(), "a field that the model does not name");
        let shelf = library.shelves.raw().get(1).await.unwrap();
        assert_eq!((shelf.get_i64("books").unwrap(), shelf.get_i32("height").unwrap()), (1, 3));
        let read = library.books.get(1).with(Book::fields().text).await.unwrap();
        assert_eq!(read.text.get().unwrap().first, "Once");

        let moved = rawdoc! { "_id": 1, "title": "moved", "shelf": 2, "text": { "first": "Twice" } };
        let stored = library.books.raw().replace(moved).await.unwrap();
        assert_eq!((stored.get_i64("revision").unwrap(), stored.get("lent").unwrap()), (2, None));
        let counts = library.shelves.all().await.unwrap().into_iter().map(|shelf| shelf.books);
        assert_eq!(counts.collect::<Vec<_>>(), [0, 1]);
        library.books.raw().upsert(book(2, 2)).await.unwrap();
        let titles = library.books.raw().find(Book::fields().shelf.eq(2)).await.unwrap();
        let titles: Vec<&str> = titles.iter().map(|book| book.get_str("title").unwrap()).collect();
        assert_eq!(titles, ["moved", "book 2"]);
        let plan = library.books.raw().insert(book(3, 2)).plan().await.unwrap();
        assert!(plan.collections.iter().any(|of| of.collection == "shelves" && of.changed == 1));
        assert_eq!(library.audit().await.unwrap(), []);
    }

    async fn a_raw_document_conforms_to_the_model(store: AnyStore) {
        let library = library(store).await;
        library.books.raw().insert(book(1, 1)).await.unwrap();
        let raw = library.books.raw();
        let refused = [
            (raw.insert(rawdoc! { "_id": 2, "title": 7, "shelf": 1, "text": { "first": "" } }), ErrorKind::Invalid),
            (raw.insert(rawdoc! { "_id": 2, "shelf": 1, "text": { "first": "" } }), ErrorKind::Invalid),
            (raw.insert(book(2, 9)), ErrorKind::DanglingReference),
            (raw.insert(book(1, 1)), ErrorKind::DuplicateKey),
            (raw.insert(rawdoc! { "title": "x", "shelf": 1, "text": { "first": "" } }), ErrorKind::Encode),
            (raw.insert(rawdoc! { "_id": null, "title": "x", "shelf": 1, "text": { "first": "" } }), ErrorKind::Encode),
            (raw.replace(book(5, 1)), ErrorKind::NotFound),
            (raw.upsert(rawdoc! { "_id": 1, "title": "book 1", "shelf": 1, "text": { "first": 1 } }), ErrorKind::Invalid),
        ];
        for (write, kind) in refused {
            let error = write.await.unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
        }
        let stale = rawdoc! { "_id": 1, "title": "x", "shelf": 1, "text": { "first": "" }, "revision": 7_i64 };
        assert!(raw.replace(stale).await.unwrap_err().is_stale());
        let two = [book(3, 1), book(4, 9)];
        assert!(raw.insert_many(two).await.is_err());
        assert_eq!(library.books.all().count().await.unwrap(), 1);
        let damaged = {
            let mut bytes = rawdoc! { "_id": 1, "list": [1, 2, 3] }.into_bytes();
            let at = bytes.len() - 9;
            bytes[at] = 0x66;
            RawDocumentBuf::from_bytes(bytes).unwrap()
        };
        assert_eq!(library.notes.raw().upsert(damaged).await.unwrap_err().kind(), ErrorKind::Encode);
        assert_eq!(library.audit().await.unwrap(), []);
    }

    async fn a_raw_document_that_is_not_validated_can_be_read(store: AnyStore) {
        let library = library(store).await;
        let raw = library.scraps.raw();
        raw.insert(rawdoc! { "_id": 1, "text": "x" }).await.unwrap();
        for write in [raw.insert(rawdoc! { "_id": 2, "text": 7 }), raw.replace(rawdoc! { "_id": 1 })] {
            let error = write.await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Decode, "{error}");
        }
        assert_eq!(raw.all().await.unwrap(), [rawdoc! { "_id": 1, "text": "x" }]);
    }

    async fn an_empty_timestamp_in_a_raw_document_becomes_the_current_one(store: AnyStore) {
        let library = library(store).await;
        let empty = odm::bson::Timestamp { time: 0, increment: 0 };
        let stored = library.notes.raw().insert(rawdoc! { "_id": 1, "at": empty }).await.unwrap();
        assert!(stored.get_timestamp("at").unwrap().time > 0);
        assert_eq!(library.notes.raw().get(1).await.unwrap(), stored);
    }

    async fn raw_writes_from_which_nothing_follows_return_what_is_stored(store: AnyStore) {
        let library = library(store).await;
        let note = rawdoc! { "_id": 1, "more": [1, { "a": 2 }] };
        assert_eq!(library.notes.raw().insert(note.clone()).await.unwrap(), note);
        assert_eq!(library.notes.raw().upsert(note.clone()).await.unwrap(), note);
        let other = rawdoc! { "_id": 1, "text": "x" };
        assert_eq!(library.notes.raw().replace(other.clone()).await.unwrap(), other);
        assert_eq!(library.notes.raw().all().await.unwrap(), [other]);
        assert!(library.notes.raw().insert_many([]).await.unwrap().is_empty());
        let (raw, typed) = library
            .bulk((library.notes.raw().insert(rawdoc! { "_id": 2 }), library.notes.delete(1)))
            .await
            .unwrap();
        assert_eq!((raw, typed), (rawdoc! { "_id": 2 }, true));
    }

    async fn an_update_in_mongodbs_form_is_as_free_within_a_typed_one(store: AnyStore) {
        let library = library(store).await;
        library.scraps.insert(Scrap { id: 1, text: "a".into() }).await.unwrap();
        let number = || odm::bson::doc! { "$set": { "text": 5 } };
        let text = Scrap::fields().text;
        for update in [
            library.scraps.update(1).raw(number()),
            library.scraps.update(1).with(Update::new().raw(number())),
        ] {
            update.await.unwrap();
            assert!(library.scraps.get(1).await.is_err());
            library.scraps.update(1).set(text, "a").await.unwrap();
        }
    }
}
