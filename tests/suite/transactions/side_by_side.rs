//! Transactions run side by side, and nobody waits for one.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use odm::prelude::*;
use serde::{Deserialize, Serialize};
use tests::on_embedded_stores;
use tokio::task::JoinSet;

use crate::transactions::bank::bank;

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "shelves")]
struct Shelf {
    #[serde(rename = "_id")]
    id: i32,
    #[count(of = "Book")]
    books: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent)]
    shelf: Ref<Shelf>,
}

#[derive(Database)]
#[database(name = "shelves", version = 1)]
struct Library {
    shelves: Repository<Shelf>,
    books: Repository<Book>,
}

async fn library(store: impl Into<tests::AnyStore>) -> Library {
    let library = Library::open(store.into()).await.unwrap();
    library.shelves.insert(Shelf { id: 1, books: 0 }).await.unwrap();
    library
}

on_embedded_stores! {
    async fn nobody_waits_for_a_closure_that_awaits_a_write_to_what_it_has_read(store: AnyStore) {
        let bank = bank(store).await;
        let is_over = Arc::new(AtomicBool::new(false));
        let mut writers = JoinSet::new();
        for _ in 0..64 {
            let (bank, is_over) = (bank.clone(), is_over.clone());
            writers.spawn(async move {
                let (mut longest, mut added) = (Duration::ZERO, 0);
                while !is_over.load(Ordering::Relaxed) {
                    let began = Instant::now();
                    bank.add(1, 1).await.unwrap();
                    longest = longest.max(began.elapsed());
                    added += 1;
                }
                (longest, added)
            });
        }
        let runs = AtomicUsize::new(0);
        let closure = bank.transaction(async |inner| {
            let run = runs.fetch_add(1, Ordering::Relaxed);
            let before = inner.balance(1).await;
            if run < 3 {
                let outer = bank.clone();
                tokio::spawn(async move { outer.add(1, 1).await }).await.unwrap()?;
            }
            inner.add(2, before).await
        });
        // The writers never stop before it is done.
        closure.await.unwrap();
        is_over.store(true, Ordering::Relaxed);
        let mut expected = 103;
        while let Some(writer) = writers.join_next().await {
            let (longest, added) = writer.unwrap();
            assert!(longest < Duration::from_secs(30), "{longest:?}");
            expected += added;
        }
        assert!(runs.load(Ordering::Relaxed) > 3, "it has read what others have changed");
        assert_eq!(bank.balance(1).await, expected);
    }

    async fn closures_that_insert_under_one_counted_parent_run_once(store: AnyStore) {
        let library = library(store).await;
        let runs = Arc::new(AtomicUsize::new(0));
        let mut tasks = JoinSet::new();
        for task in 0..64 {
            let (library, runs) = (library.clone(), runs.clone());
            tasks.spawn(async move {
                for round in 0..8 {
                    let closure = library.transaction(async |library| {
                        runs.fetch_add(1, Ordering::Relaxed);
                        let book = Book { id: task * 100 + round, shelf: Ref::new(1) };
                        library.books.insert(book).await
                    });
                    closure.await.unwrap();
                }
            });
        }
        while let Some(task) = tasks.join_next().await {
            task.unwrap();
        }
        assert_eq!(library.shelves.get(1).await.unwrap().books, 512);
        let runs = runs.load(Ordering::Relaxed);
        assert!(runs <= 512 * 11 / 10, "{runs} runs for 512 commits");
        assert!(library.audit().await.unwrap().is_empty());
    }

    async fn a_closure_that_has_seen_a_derived_field_is_run_again_if_it_changes(store: AnyStore) {
        let library = library(store).await;
        let runs = AtomicUsize::new(0);
        let closure = library.transaction(async |inner| {
            let run = runs.fetch_add(1, Ordering::Relaxed);
            inner.books.insert(Book { id: 1, shelf: Ref::new(1) }).await?;
            let books = inner.shelves.get(1).await?.books;
            if run == 0 {
                let outer = library.clone();
                let insert = async move { outer.books.insert(Book { id: 2, shelf: Ref::new(1) }).await };
                tokio::spawn(insert).await.unwrap()?;
            }
            Ok(books)
        });
        assert_eq!(closure.await.unwrap(), 2, "what it returns is what it has left");
        assert_eq!(runs.load(Ordering::Relaxed), 2);
        assert_eq!(library.shelves.get(1).await.unwrap().books, 2);
    }

    async fn a_write_that_would_tell_something_else_runs_the_closure_again(store: AnyStore) {
        let library = library(store).await;
        let runs = AtomicUsize::new(0);
        let closure = library.transaction(async |inner| {
            let run = runs.fetch_add(1, Ordering::Relaxed);
            let of_shelf = Book::fields().shelf.eq(Ref::new(1));
            let deleted = inner.books.delete_where(of_shelf).await?;
            if run == 0 {
                let outer = library.clone();
                let insert = async move { outer.books.insert(Book { id: 2, shelf: Ref::new(1) }).await };
                tokio::spawn(insert).await.unwrap()?;
            }
            inner.books.insert(Book { id: 3, shelf: Ref::new(1) }).await?;
            Ok(deleted)
        });
        assert_eq!(closure.await.unwrap(), 1, "as many as it has deleted");
        assert_eq!(runs.load(Ordering::Relaxed), 2);
        assert_eq!(library.shelves.get(1).await.unwrap().books, 1);
        assert!(library.audit().await.unwrap().is_empty());
    }
}
