//! The results of a watch on every store that has watches: each change with the document before and after it, and the place after it.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Duration,
};

use odm::{
    Embedded, ErrorKind,
    prelude::*,
    repository::{ChangeEvent, ChangeStream},
    store::{Cause, ResumeToken, contract::Store},
};
use odm_store_suite::MapStore;
use serde::{Deserialize, Serialize};
use tests::on_watched_stores;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "authors")]
struct Author {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[count(of = "Book", via = "author")]
    books: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent, on_delete = "cascade")]
    author: Ref<Author>,
    #[denormalize(from = "Author.name", via = "author")]
    author_name: String,
    #[reference(parent, on_delete = "nullify")]
    editor: Option<Ref<Author>>,
    #[version]
    version: i64,
}

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
    authors: Repository<Author>,
    books: Repository<Book>,
    counters: Repository<Counter>,
}

fn author(id: i32) -> Author {
    Author { id, name: format!("author {id}"), books: 0 }
}

fn book(id: i32, author: i32, editor: Option<i32>) -> Book {
    Book {
        id,
        author: Ref::new(author),
        author_name: String::new(),
        editor: editor.map(Ref::new),
        version: 0,
    }
}

fn counter(id: i32, value: i64) -> Counter {
    Counter { id, value }
}

/// The next change. Some servers show a document after a change as it is when the change is read, so a test takes each change before it
/// makes the next one.
async fn next<M: Document>(changes: &mut ChangeStream<M>) -> ChangeEvent<M> {
    let next = tokio::time::timeout(Duration::from_secs(60), changes.next());
    next.await.expect("a change").expect("the store is open").unwrap()
}

type Shown<M> = (Option<M>, Option<M>, Cause);

async fn shown<M: Document>(changes: &mut ChangeStream<M>) -> Shown<M> {
    let change = next(changes).await;
    (change.before, change.after, change.cause)
}

on_watched_stores! {
    async fn every_way_of_writing_is_shown(store: AnyStore) {
        let library = Library::open(store).await.unwrap();
        let mut changes = library.counters.watch(Filter::all()).await.unwrap();
        let value = Counter::fields().value;
        let (counters, write) = (&library.counters, Cause::Write);
        let one = |id, value| Some(counter(id, value));

        counters.insert(counter(1, 0)).await.unwrap();
        assert_eq!(shown(&mut changes).await, (None, one(1, 0), write));
        counters.update(1).set(value, 1).await.unwrap();
        assert_eq!(shown(&mut changes).await, (one(1, 0), one(1, 1), write));
        // A write without a change.
        counters.update(1).set(value, 1).await.unwrap();
        counters.update_where(Filter::all()).inc(value, 1).await.unwrap();
        assert_eq!(shown(&mut changes).await, (one(1, 1), one(1, 2), write));
        counters.replace(counter(1, 9)).await.unwrap();
        assert_eq!(shown(&mut changes).await, (one(1, 2), one(1, 9), write));
        counters.upsert(counter(3, 3)).await.unwrap();
        assert_eq!(shown(&mut changes).await, (None, one(3, 3), write));
        counters.modify(3, |counter| counter.value = 5).await.unwrap();
        assert_eq!(shown(&mut changes).await, (one(3, 3), one(3, 5), write));
        counters.delete(3).await.unwrap();
        assert_eq!(shown(&mut changes).await, (one(3, 5), None, write));
        counters.delete_where(Filter::all()).await.unwrap();
        assert_eq!(shown(&mut changes).await, (one(1, 9), None, write));
    }

    async fn what_is_rolled_back_is_never_shown(store: AnyStore) {
        let library = Library::open(store).await.unwrap();
        library.counters.insert(counter(1, 0)).await.unwrap();
        let mut changes = library.counters.watch(Filter::all()).await.unwrap();
        let value = Counter::fields().value;
        let failed = library.transaction(async |library| {
            library.counters.update(1).set(value, 7).await?;
            library.counters.get(9).await.map(drop)
        });
        assert!(failed.await.unwrap_err().is_not_found());
        let guard = library.begin().await.unwrap();
        guard.counters.update(1).set(value, 8).await.unwrap();
        guard.rollback().await.unwrap();
        library.transaction(async |library| library.counters.update(1).set(value, 1).await).await.unwrap();
        let expected = (Some(counter(1, 0)), Some(counter(1, 1)), Cause::Write);
        assert_eq!(shown(&mut changes).await, expected);
    }

    async fn the_cause_is_told_or_unknown(store: AnyStore) {
        let is_server = store.capabilities().several_programs;
        let or_unknown = |cause| if is_server { Cause::Unknown } else { cause };
        let library = Library::open(store).await.unwrap();
        library.authors.insert_many([author(1), author(2)]).await.unwrap();
        let mut authors = library.authors.watch(Filter::all()).await.unwrap();
        let mut books = library.books.watch(Filter::all()).await.unwrap();

        library.books.insert(book(1, 1, Some(2))).await.unwrap();
        assert_eq!(next(&mut books).await.cause, Cause::Write);
        // The count was refreshed.
        assert_eq!(next(&mut authors).await.cause, Cause::Relation);
        library.authors.update(1).set(Author::fields().name, "new").await.unwrap();
        assert_eq!(next(&mut authors).await.cause, Cause::Write);
        let copied = next(&mut books).await;
        assert_eq!(copied.after.unwrap().author_name, "new");
        assert_eq!(copied.cause, Cause::Relation);
        // An editor is set by a write, and removed by the delete of that author.
        library.books.update(1).set(Book::fields().editor, Some(Ref::new(1))).await.unwrap();
        assert_eq!(next(&mut books).await.cause, or_unknown(Cause::Write));
        library.books.update(1).set(Book::fields().editor, Some(Ref::new(2))).await.unwrap();
        assert_eq!(next(&mut books).await.cause, or_unknown(Cause::Write));
        library.authors.delete(2).await.unwrap();
        assert_eq!(next(&mut authors).await.cause, Cause::Write);
        let nullified = next(&mut books).await;
        assert_eq!(nullified.after.unwrap().editor, None);
        assert_eq!(nullified.cause, or_unknown(Cause::Relation));
        library.authors.delete(1).await.unwrap();
        assert_eq!(next(&mut authors).await.cause, Cause::Write);
        let gone = next(&mut books).await;
        assert_eq!((gone.after, gone.cause), (None, or_unknown(Cause::Relation)));
    }

    async fn a_change_of_a_document_that_matches_before_or_after_it_is_shown(store: AnyStore) {
        let library = Library::open(store).await.unwrap();
        let value = Counter::fields().value;
        let mut changes = library.counters.watch(value.gte(10)).await.unwrap();
        let set = async |now| library.counters.update(1).set(value, now).await.unwrap();
        library.counters.insert(counter(1, 5)).await.unwrap();
        set(10).await;
        let one = |value| Some(counter(1, value));
        assert_eq!(shown(&mut changes).await, (one(5), one(10), Cause::Write));
        set(4).await;
        assert_eq!(shown(&mut changes).await, (one(10), one(4), Cause::Write));
        set(3).await;
        library.counters.delete(1).await.unwrap();
        library.counters.insert(counter(2, 11)).await.unwrap();
        assert_eq!(shown(&mut changes).await, (None, Some(counter(2, 11)), Cause::Write));
    }

    async fn a_watch_goes_on_after_a_token(store: AnyStore) {
        let library = Library::open(store).await.unwrap();
        let watch = |token: &ResumeToken| {
            // In the form in which a client sends it back.
            let token: ResumeToken = serde_json::from_str(&serde_json::to_string(token).unwrap()).unwrap();
            library.counters.watch(Filter::all()).resume_after(token)
        };
        let mut changes = library.counters.watch(Filter::all()).await.unwrap();
        let begun = changes.token().clone();
        library.counters.insert(counter(1, 0)).await.unwrap();
        let first = next(&mut changes).await;
        assert_eq!(first.token, *changes.token());
        drop(changes);
        library.counters.insert(counter(2, 0)).await.unwrap();
        library.counters.insert(counter(3, 0)).await.unwrap();

        let mut changes = watch(&first.token).await.unwrap();
        assert_eq!(*changes.token(), first.token);
        assert_eq!(next(&mut changes).await.id, 2);
        assert_eq!(next(&mut changes).await.id, 3);
        library.counters.insert(counter(4, 0)).await.unwrap();
        assert_eq!(next(&mut changes).await.id, 4);
        let mut changes = watch(&begun).await.unwrap();
        for id in 1..=4 {
            assert_eq!(next(&mut changes).await.id, id);
        }
        // At the end there are no further changes, until there is one.
        let mut changes = watch(changes.token()).await.unwrap();
        library.counters.insert(counter(5, 0)).await.unwrap();
        assert_eq!(next(&mut changes).await.id, 5);
    }

    async fn a_text_that_is_no_token_is_refused(store: AnyStore) {
        let library = Library::open(store).await.unwrap();
        for text in ["", "5", "{}", "{\"_data\":\"zz\"}", "{\"_data\":\"82\"}", "-1-2-3-4", "0123456789abcdef-1-1"] {
            let token = ResumeToken::from(text.to_owned());
            let error = library.counters.watch(Filter::all()).resume_after(token).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{text}: {error}");
            assert!(error.to_string().contains("is no resume token of this store"), "{error}");
        }
    }

    async fn a_watch_that_waits_ends_when_the_store_is_closed(store: AnyStore) {
        let library = Library::open(store).await.unwrap();
        let mut changes = library.counters.watch(Filter::all()).await.unwrap();
        let waits = tokio::spawn(async move { changes.next().await.is_none() });
        tokio::time::sleep(Duration::from_millis(20)).await;
        library.close().await.unwrap();
        assert!(waits.await.unwrap());
        let error = library.counters.watch(Filter::all()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
    }

    async fn a_watch_inside_a_transaction_or_a_snapshot_is_refused(store: AnyStore) {
        let library = Library::open(store).await.unwrap();
        let kind = ErrorKind::OutsideTransaction;
        library.transaction(async |inner| {
            for counters in [&inner.counters, &library.counters] {
                let error = counters.watch(Filter::all()).await.unwrap_err();
                assert_eq!(error.kind(), kind, "{error}");
            }
            Ok(())
        })
        .await
        .unwrap();
        library.snapshot(async |inner| {
            let error = inner.counters.watch(Filter::all()).await.unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            Ok(())
        })
        .await
        .unwrap();
    }
}

#[tokio::test]
async fn large_commits_that_all_watches_have_taken_are_kept_no_longer() {
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[document(collection = "texts")]
    struct Text {
        #[serde(rename = "_id")]
        id: i32,
        text: String,
    }
    #[derive(Database)]
    #[database(name = "texts", version = 1)]
    struct Texts {
        texts: Repository<Text>,
    }
    let db = Texts::open(Embedded::memory().await.unwrap()).await.unwrap();
    let mut slow = db.texts.watch(Filter::all()).await.unwrap();
    let mut changes = db.texts.watch(Filter::all()).await.unwrap();
    let begun = changes.token().clone();
    for id in 0..10 {
        db.texts.insert(Text { id, text: "x".repeat(1 << 20) }).await.unwrap();
        changes.try_next().await.unwrap();
    }
    // One watch has not taken any of them yet.
    drop(db.texts.watch(Filter::all()).resume_after(begun.clone()).await.unwrap());
    for id in 0..10 {
        assert_eq!(next(&mut slow).await.id, id);
    }
    let error = db.texts.watch(Filter::all()).resume_after(begun).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Lagged, "{error}");
}

#[tokio::test]
async fn a_token_is_of_one_opening_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("library.odm");
    let library = Library::open(Embedded::open(&path).await.unwrap()).await.unwrap();
    let token = library.counters.watch(Filter::all()).await.unwrap().token().clone();
    library.close().await.unwrap();
    let library = Library::open(Embedded::open(path).await.unwrap()).await.unwrap();
    let error = library.counters.watch(Filter::all()).resume_after(token).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Lagged, "{error}");
    assert!(error.to_string().contains("before the store was opened"), "{error}");
}

#[tokio::test]
async fn transactions_that_are_in_flight_when_a_watch_begins_are_run_again_and_shown() {
    let library = Library::open(MapStore::new().serializable()).await.unwrap();
    library.counters.insert_many((1..=3).map(|id| counter(id, 0))).await.unwrap();
    let value = Counter::fields().value;
    let (runs, is_watched) = (AtomicUsize::new(0), AtomicBool::new(false));
    let in_flight = async |id: i32| {
        let add = async |library: Library| {
            library.counters.update(id).inc(value, 1).await?;
            runs.fetch_add(1, Ordering::Relaxed);
            while !is_watched.load(Ordering::Relaxed) {
                tokio::task::yield_now().await;
            }
            Ok(())
        };
        library.transaction(add).await.unwrap();
    };
    let watching = async {
        while runs.load(Ordering::Relaxed) < 2 {
            tokio::task::yield_now().await;
        }
        let guard = library.begin().await.unwrap();
        guard.counters.update(3).inc(value, 1).await.unwrap();
        let changes = library.counters.watch(Filter::all()).await.unwrap();
        // Nobody runs it again.
        let lost = guard.commit().await.unwrap_err();
        assert!(lost.is_retryable() && lost.kind() == ErrorKind::TransactionAborted, "{lost}");
        is_watched.store(true, Ordering::Relaxed);
        changes
    };
    let (_, _, mut changes) = tokio::join!(in_flight(1), in_flight(2), watching);
    assert_eq!(runs.load(Ordering::Relaxed), 4);
    let mut both = [shown(&mut changes).await, shown(&mut changes).await];
    both.sort_by_key(|(before, ..)| before.as_ref().map(|counter| counter.id));
    let expected = [1, 2].map(|id| (Some(counter(id, 0)), Some(counter(id, 1)), Cause::Write));
    assert_eq!(both, expected);
    assert_eq!(library.counters.get(3).await.unwrap().value, 0);
}
