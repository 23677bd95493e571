//! Updates and deletes that return documents, changes that can fail, and changes of the fields that a request names.

use std::sync::Arc;

use odm::{ErrorKind, bson::RawBson, prelude::*};
use serde::{Deserialize, Serialize};
use tests::{TestStore, on_every_store};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(
    collection = "shelves",
    index(fields = "room, number", unique, name = "room_and_number")
)]
struct Shelf {
    #[serde(rename = "_id")]
    id: i32,
    room: String,
    number: i32,
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
    stock: u32,
    note: Option<String>,
    #[reference(parent, on_delete = "cascade")]
    shelf: Ref<Shelf>,
    #[denormalize(from = "Shelf.room")]
    room: String,
    #[split(collection = "texts", key = "book")]
    text: Cold<Text>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Text {
    first_line: String,
}

/// Its writes have no consequences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "counters")]
struct Counter {
    #[serde(rename = "_id")]
    id: i32,
    value: i64,
}

#[derive(Database)]
#[database(name = "library", version = 1)]
struct Library {
    shelves: Repository<Shelf>,
    books: Repository<Book>,
    counters: Repository<Counter>,
}

fn shelf(id: i32) -> Shelf {
    Shelf { id, room: "east".into(), number: id, books: 0 }
}

fn book(id: i32) -> Book {
    Book {
        id,
        title: format!("book {id}"),
        stock: 3,
        note: None,
        shelf: Ref::new(1),
        room: String::new(),
        text: Cold::new(Text { first_line: "once".into() }),
    }
}

async fn library(store: impl TestStore) -> Library {
    let library = Library::open(store).await.unwrap();
    library.shelves.insert_many([shelf(1), shelf(2)]).await.unwrap();
    library.books.insert_many([book(1), book(2), book(3)]).await.unwrap();
    library.counters.insert_many((1..=3).map(|id| Counter { id, value: 0 })).await.unwrap();
    library
}

/// The fields of a book that a request names.
#[derive(Debug, Default, Deserialize, Patch)]
#[patch(of = "Book")]
#[serde(deny_unknown_fields)]
struct BookPatch {
    title: Option<String>,
    #[serde(default, deserialize_with = "odm::present")]
    note: Option<Option<String>>,
    shelf: Option<Ref<Shelf>>,
    #[patch(path = "text.first_line")]
    first_line: Option<String>,
    #[patch(skip)]
    #[serde(default)]
    is_draft: bool,
}

fn patch(json: &str) -> BookPatch {
    serde_json::from_str(json).unwrap()
}

on_every_store! {
    async fn a_patch_sets_what_it_has_a_value_for(store: AnyStore) {
        let library = library(store).await;
        let set = |json| library.books.update(1).set_all(patch(json)).returning();
        assert!(patch(r#"{ "is_draft": true }"#).is_draft);
        let before = library.books.get(1).await.unwrap();
        assert_eq!(set(r#"{ "is_draft": true }"#).await.unwrap(), before);
        assert_eq!(set("{}").await.unwrap(), before);

        let noted = set(r#"{ "note": "borrowed", "title": "Walden" }"#).await.unwrap();
        assert_eq!((noted.title.as_str(), noted.note.as_deref()), ("Walden", Some("borrowed")));
        let untitled = set(r#"{ "title": null }"#).await.unwrap();
        assert_eq!((untitled.title.as_str(), untitled.note.as_deref()), ("Walden", Some("borrowed")));
        assert_eq!(set(r#"{ "note": null }"#).await.unwrap().note, None);

        // A patch has the same consequences as a change, also in the cold part.
        let moved = set(r#"{ "shelf": 2, "first_line": "When I wrote" }"#).await.unwrap();
        assert_eq!(*moved.shelf.id(), 2);
        assert_eq!(library.shelves.get(2).await.unwrap().books, 1);
        let whole = library.books.get(1).with(Book::fields().text).await.unwrap();
        assert_eq!(whole.text.get().unwrap().first_line, "When I wrote");
        let lost = set(r#"{ "shelf": 9 }"#).await.unwrap_err();
        assert_eq!(lost.kind(), ErrorKind::DanglingReference);
        // In one update with other changes.
        let both = library.books.update(2).set_all(patch(r#"{ "note": "new" }"#));
        let both = both.inc(Book::fields().stock, 1).returning().await.unwrap();
        assert_eq!((both.note.as_deref(), both.stock), (Some("new"), 4));
        let many = library.books.update_where(Book::fields().id.gt(1)).set_all(patch(r#"{ "note": "x" }"#));
        assert_eq!(many.await.unwrap().matched, 2);
        assert_eq!(library.audit().await.unwrap(), []);
    }

    async fn an_update_returns_what_it_leaves_or_what_it_found(store: AnyStore) {
        let library = library(store).await;
        let fields = Book::fields();
        let before = library.books.get(1).await.unwrap();
        let after = library.books.update(1).set(fields.shelf, 2).returning().await.unwrap();
        assert_eq!(*after.shelf.id(), 2);
        assert_eq!(library.books.get(1).await.unwrap(), after);
        let returned = library.books.update(1).set(fields.shelf, 1).returning_before().await.unwrap();
        assert_eq!(returned, after);
        assert_eq!(library.books.get(1).await.unwrap(), before);
        // An unchanged document is returned as well.
        let same = library.books.update(1).set(fields.shelf, 1).returning().await.unwrap();
        assert_eq!(same, before);
        // A change of the cold part alone.
        let cold = library.books.update(1).set(fields.text.first_line, "now").returning().await;
        assert_eq!(cold.unwrap(), before);

        let value = Counter::fields().value;
        assert_eq!(library.counters.update(1).inc(value, 2).returning().await.unwrap().value, 2);
        let before = library.counters.update(1).inc(value, 2).returning_before().await.unwrap();
        assert_eq!(before.value, 2);
        let missing = library.counters.update(9).inc(value, 1).returning().await;
        assert!(missing.unwrap_err().is_not_found());
        let empty = library.counters.update(1).returning().await.unwrap_err();
        assert_eq!(empty.kind(), ErrorKind::InvalidQuery);
        assert_eq!(library.audit().await.unwrap(), []);
    }

    async fn an_update_of_many_returns_all_that_match(store: AnyStore) {
        let library = library(store).await;
        let (counter, fields) = (Counter::fields(), Book::fields());
        let raise = |filter| library.counters.update_where(filter).inc(counter.value, 5);
        let raised = raise(counter.id.gte(2)).returning().await.unwrap();
        assert_eq!(raised, [Counter { id: 2, value: 5 }, Counter { id: 3, value: 5 }]);
        // They do not match any more when they are returned.
        let again = raise(counter.value.eq(5)).returning().await.unwrap();
        assert_eq!(again, [Counter { id: 2, value: 10 }, Counter { id: 3, value: 10 }]);
        assert_eq!(raise(counter.id.gt(9)).returning().await.unwrap(), []);
        let upserted = raise(counter.id.eq(7)).upsert().returning().await.unwrap();
        assert_eq!(upserted, [Counter { id: 7, value: 5 }]);
        let moved = library.books.update_where(fields.stock.eq(3)).set(fields.shelf, 2);
        let moved = moved.returning_before().await.unwrap();
        assert_eq!(moved.iter().map(|book| *book.shelf.id()).collect::<Vec<_>>(), [1, 1, 1]);
        assert_eq!(library.shelves.get(2).await.unwrap().books, 3);
        assert_eq!(library.audit().await.unwrap(), []);
    }

    async fn a_delete_returns_what_is_gone(store: AnyStore) {
        let library = library(store).await;
        let stored = library.books.get(1).await.unwrap();
        assert_eq!(library.books.delete(1).returning().await.unwrap(), Some(stored));
        assert_eq!(library.books.delete(1).returning().await.unwrap(), None);
        assert_eq!(library.shelves.get(1).await.unwrap().books, 2);
        let shelves = library.shelves.delete_where(Shelf::fields().id.lt(5)).returning().await.unwrap();
        let ids: Vec<i32> = shelves.iter().map(|shelf| shelf.id).collect();
        assert_eq!(ids, [1, 2]);
        assert_eq!(shelves[0].books, 2, "as it was when the call was made");
        assert_eq!(library.books.all().count().await.unwrap(), 0);
        let counter = library.counters.delete(2).returning().await.unwrap();
        assert_eq!(counter, Some(Counter { id: 2, value: 0 }));
    }

    async fn a_counter_that_is_returned_gives_each_number_once(store: AnyStore) {
        let library = Arc::new(library(store).await);
        let tasks = (0..8).map(|_| {
            let library = library.clone();
            tokio::spawn(async move {
                let mut numbers = Vec::new();
                for _ in 0..10 {
                    let next = library.counters.update(1).inc(Counter::fields().value, 1);
                    numbers.push(next.returning().await.unwrap().value);
                }
                numbers
            })
        });
        let mut numbers = Vec::new();
        for task in tasks.collect::<Vec<_>>() {
            numbers.extend(task.await.unwrap());
        }
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(1..=80));
    }

    async fn what_is_returned_in_a_transaction_is_undone_with_it(store: AnyStore) {
        let library = library(store).await;
        let failed: odm::Result<()> = library
            .transaction(async |library| {
                let value = Counter::fields().value;
                let counter = library.counters.update(1).inc(value, 1).returning().await?;
                assert_eq!(counter.value, 1);
                assert!(library.books.delete(1).returning().await?.is_some());
                library.counters.get(99).await.map(drop)
            })
            .await;
        assert!(failed.unwrap_err().is_not_found());
        assert_eq!(library.counters.get(1).await.unwrap().value, 0);
        assert!(library.books.get(1).optional().await.unwrap().is_some());
    }

    async fn a_change_that_fails_stores_nothing(store: AnyStore) {
        #[derive(Debug, PartialEq)]
        enum Problem {
            SoldOut,
            NotFound,
        }
        impl From<odm::Error> for Problem {
            fn from(error: odm::Error) -> Self {
                assert!(error.is_not_found(), "{error}");
                Problem::NotFound
            }
        }
        let library = library(store).await;
        let take = |id: i32, number: u32| {
            library.books.try_modify(id, move |book| {
                book.note = Some("touched".into());
                book.stock = book.stock.checked_sub(number).ok_or(Problem::SoldOut)?;
                Ok(())
            })
        };
        assert_eq!(take(1, 2).await.unwrap().stock, 1);
        assert_eq!(take(1, 2).await, Err(Problem::SoldOut));
        assert_eq!(take(9, 2).await, Err(Problem::NotFound));
        assert_eq!(library.books.get(2).await.unwrap().note, None);
        assert_eq!(take(2, 4).await, Err(Problem::SoldOut));
        assert_eq!(library.books.get(2).await.unwrap().note, None);
    }

    async fn only_what_a_request_names_is_set(store: AnyStore) {
        let library = library(store).await;
        let fields = Book::fields();
        let patch = |title: Option<&str>, note: Option<Option<String>>| {
            let title = title.map(str::to_owned);
            library.books.update(1).set_if(fields.title, title).set_if(fields.note, note)
        };
        let book = patch(Some("new"), None).returning().await.unwrap();
        assert_eq!((book.title.as_str(), book.note), ("new", None));
        let book = patch(None, Some(Some("noted".into()))).returning().await.unwrap();
        assert_eq!((book.title.as_str(), book.note.as_deref()), ("new", Some("noted")));
        let book = patch(None, Some(None)).returning().await.unwrap();
        assert_eq!(book.note, None);
        patch(None, None).await.unwrap();
        assert_eq!(library.books.get(1).await.unwrap(), book);
    }

    async fn a_duplicate_key_names_its_fields(store: AnyStore) {
        let library = library(store).await;
        let error = library.books.insert(Book { title: "book 2".into(), ..book(9) }).await.unwrap_err();
        let location = error.location().unwrap();
        assert_eq!((&*location.collection, location.path.as_deref()), ("books", Some("title")));
        assert_eq!(location.index.as_deref(), Some("title_1"));
        assert_eq!(location.id, Some(RawBson::String("book 2".into())));
        let error = library.shelves.insert(Shelf { id: 9, ..shelf(2) }).await.unwrap_err();
        let location = error.location().unwrap();
        assert_eq!(location.path.as_deref(), Some("room, number"));
        assert_eq!(location.index.as_deref(), Some("room_and_number"));
        let error = library.shelves.insert(Shelf { number: 9, ..shelf(1) }).await.unwrap_err();
        let location = error.location().unwrap();
        assert_eq!((location.path.as_deref(), location.index.as_deref()), (Some("_id"), None));
    }
}
