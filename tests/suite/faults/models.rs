//! A library whose books are copied into, counted and shown at once, and later.

use std::collections::BTreeMap;

use odm::{OpenOptions, bson::RawDocumentBuf, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, stored};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "authors")]
pub(crate) struct Author {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    pub(crate) name: String,
    /// How often it was changed, which reveals a unit that is stored twice.
    pub(crate) changes: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "shelves")]
pub(crate) struct Shelf {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    pub(crate) visits: i64,
    #[subset(limit = 2, sort = "-pages")]
    pub(crate) longest: Subset<Line>,
    #[count(of = "Book")]
    pub(crate) books: i64,
    #[count(of = "Book", refresh = "later")]
    pub(crate) books_later: i64,
    #[denormalize(from = "Book.author_later", via = "Book.shelf", refresh = "later")]
    pub(crate) authors_later: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "books")]
pub(crate) struct Book {
    #[serde(rename = "_id")]
    pub(crate) id: ObjectId,
    #[reference(child, on_delete = "cascade")]
    pub(crate) author: Ref<Author>,
    #[denormalize(from = "Author.name")]
    pub(crate) author_name: String,
    #[denormalize(from = "Author.name", refresh = "later")]
    pub(crate) author_later: String,
    #[reference(parent, on_delete = "cascade")]
    pub(crate) shelf: Ref<Shelf>,
    pub(crate) pages: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Book")]
pub(crate) struct Line {
    #[serde(rename = "_id")]
    pub(crate) id: ObjectId,
    pub(crate) author_name: String,
    pub(crate) pages: i32,
}

/// Its writes have no consequences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "notes")]
pub(crate) struct Note {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    pub(crate) text: String,
}

#[derive(Database)]
#[database(name = "library", version = 1)]
pub(crate) struct Library {
    pub(crate) notes: Repository<Note>,
    pub(crate) authors: Repository<Author>,
    pub(crate) shelves: Repository<Shelf>,
    pub(crate) books: Repository<Book>,
}

pub(crate) fn author(id: i32) -> Author {
    Author { id, name: format!("author {id}"), changes: 0 }
}

pub(crate) fn note(id: i32, text: &str) -> Note {
    Note { id, text: text.to_owned() }
}

pub(crate) fn shelf(id: i32) -> Shelf {
    Shelf {
        id,
        visits: 0,
        longest: Subset::default(),
        books: 0,
        books_later: 0,
        authors_later: Vec::new(),
    }
}

/// A book with an `_id` of its own.
pub(crate) fn book(author: i32, shelf: i32, pages: i32) -> Book {
    numbered(ObjectId::new(), author, shelf, pages)
}

pub(crate) fn numbered(id: ObjectId, author: i32, shelf: i32, pages: i32) -> Book {
    Book {
        id,
        author: Ref::new(author),
        author_name: String::new(),
        author_later: String::new(),
        shelf: Ref::new(shelf),
        pages,
    }
}

/// The `_id` of a book that every run gives the same.
pub(crate) fn id(number: u8) -> ObjectId {
    ObjectId::from_bytes([number; 12])
}

/// Opens it without a worker.
pub(crate) async fn library(store: impl TestStore) -> Library {
    let options = OpenOptions::default().refresh_every(None);
    Library::open_with(store, options).await.unwrap()
}

/// All stored documents.
pub(crate) type State = BTreeMap<&'static str, Vec<RawDocumentBuf>>;

pub(crate) async fn state(store: &impl TestStore) -> State {
    let mut state = State::new();
    for collection in ["notes", "authors", "shelves", "books"] {
        state.insert(collection, stored(store, collection).await);
    }
    state
}

/// Makes sure that an audit finds only waiting refreshes now, and nothing once they are done.
pub(crate) async fn assert_right(library: &Library, when: &str) {
    assert_eq!(library.audit().await.unwrap(), [], "{when}");
    library.wait_for_refreshes().await.unwrap();
    let mut audit = library.audit();
    let found = audit.try_next().await.unwrap();
    assert_eq!((found, audit.progress().deferred), (None, 0), "{when}");
    let refreshes = library.deferred_refreshes().await.unwrap();
    assert_eq!((refreshes.waiting, &*refreshes.failed), (0, &[][..]), "{when}");
}
