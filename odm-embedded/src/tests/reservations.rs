//! Work that has lost several times gets done, and nobody waits long for it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use bson::{doc, rawdoc};
use odm_store::{Error, ErrorKind, Store, Transaction, TransactionOptions};
use tokio::task::JoinHandle;

use super::support::*;
use crate::Embedded;

const SHORT: Duration = Duration::from_millis(50);

/// Longer than a slow machine takes.
const LONG: Duration = Duration::from_secs(60);

async fn begin(store: &Embedded, lost: Option<Error>) -> Box<dyn Transaction> {
    let options = TransactionOptions::default().after(lost);
    store.begin(options).await.expect("a transaction")
}

async fn increment(store: &Embedded, id: i32) {
    let write = Write::Update(doc! { "_id": id }, doc! { "$inc": { "n": 1 } });
    run(store, vec![write]).await.expect("an update");
}

fn spawn_increment(store: &Embedded, id: i32) -> JoinHandle<()> {
    let store = store.clone();
    tokio::spawn(async move { increment(&store, id).await })
}

/// Reads the document 1 by its `_id`, or all documents with `n` from 0 on, and adds a document.
async fn work(transaction: &mut dyn Transaction, new: i32, by_range: bool) {
    let query = if by_range {
        doc! { "n": { "$gte": 0 } }
    } else {
        doc! { "_id": 1 }
    };
    let mut find = find_all();
    find.filter = filter(query);
    assert!(!found(transaction, &find).await.is_empty());
    let new = rawdoc! { "_id": new, "n": -1 };
    let added = insert_all(transaction, "things", &[new]).await;
    added.expect("an insert");
}

/// A store whose reservations last this long.
async fn store(time: Duration) -> Embedded {
    let store = Embedded::builder().reservation(time).memory().await;
    let store = store.expect("a store");
    let collections = [collection("things", vec![index("by_n", &[("n", 1)])])];
    store.ensure(&collections).await.expect("the collection");
    let documents = vec![doc! { "_id": 1, "n": 0 }, doc! { "_id": 2, "n": 0 }];
    insert(&store, documents).await.expect("an insert");
    store
}

/// The transaction of a caller who has lost three times.
async fn after_three_losses(store: &Embedded, by_range: bool) -> Box<dyn Transaction> {
    let mut lost = None;
    for _ in 0..3 {
        let mut transaction = begin(store, lost).await;
        work(&mut *transaction, 3, by_range).await;
        increment(store, 1).await;
        lost = Some(transaction.commit().await.expect_err("a conflict"));
    }
    begin(store, lost).await
}

#[tokio::test]
async fn others_wait_for_work_that_has_lost_three_times() {
    for by_range in [false, true] {
        let store = store(LONG).await;
        let mut transaction = after_three_losses(&store, by_range).await;
        work(&mut *transaction, 3, by_range).await;
        let waiting: Vec<_> = (0..8).map(|_| spawn_increment(&store, 1)).collect();
        tokio::task::yield_now().await;
        // The writer has seen those by the time that it answers this one.
        insert(&store, vec![doc! { "_id": 4, "n": -1 }])
            .await
            .expect("an insert");
        transaction.commit().await.expect("it does not lose again");
        for waiting in waiting {
            waiting.await.expect("an update");
        }
        let expected = doc! { "_id": 1, "n": 3 + 8 };
        assert_eq!(all(&store).await[0], expected);
    }
}

#[tokio::test]
async fn nobody_waits_for_a_caller_who_waits_for_them() {
    let store = store(SHORT).await;
    let mut transaction = after_three_losses(&store, false).await;
    work(&mut *transaction, 3, false).await;
    increment(&store, 1).await;
    let lost = transaction.commit().await.expect_err("a conflict");
    assert!(lost.is_conflict() && lost.is_retryable(), "{lost}");
    let location = lost.location().expect("a location");
    assert_eq!(location.collection, "things");
    assert_eq!(location.id, Some(value(1)));
    let expected = "transaction lost: another one has changed the document of `things` with `_id` 1 that it \
                    has read; run it again";
    assert_eq!(lost.to_string(), expected);
}

#[tokio::test]
async fn the_end_of_a_transaction_ends_its_reservation() {
    let store = store(LONG).await;
    let transaction = after_three_losses(&store, false).await;
    let waiting = spawn_increment(&store, 1);
    tokio::task::yield_now().await;
    increment(&store, 2).await;
    drop(transaction);
    waiting.await.expect("an update");
    store.close().await.expect("the store is closed");
}

#[tokio::test]
async fn a_store_that_is_closed_refuses_the_waiting_writes() {
    let store = store(LONG).await;
    let _transaction = after_three_losses(&store, false).await;
    let waiting = tokio::spawn({
        let store = store.clone();
        async move {
            let write = Write::Update(doc! { "_id": 1 }, doc! { "$set": { "n": 100 } });
            run(&store, vec![write]).await
        }
    });
    tokio::task::yield_now().await;
    increment(&store, 2).await;
    store.close().await.expect("the store is closed");
    match waiting.await.expect("no panic") {
        Ok(()) => {}
        Err(refused) => assert_eq!(refused.kind(), ErrorKind::Closed, "{refused}"),
    }
}

#[test]
fn work_gets_done_beside_writers_that_never_stop() {
    let store = block_on(store(SHORT));
    let is_over = Arc::new(AtomicBool::new(false));
    let writers = (0..8).map(|_| {
        let (store, is_over) = (store.clone(), is_over.clone());
        thread::spawn(move || {
            let mut times = 0;
            while !is_over.load(Ordering::Relaxed) {
                block_on(increment(&store, 1));
                times += 1;
            }
            times
        })
    });
    let writers: Vec<thread::JoinHandle<i32>> = writers.collect();
    let mut lost = None;
    for tries in 1.. {
        let mut transaction = block_on(begin(&store, lost));
        block_on(work(&mut *transaction, 3, false));
        thread::sleep(Duration::from_millis(2));
        match block_on(transaction.commit()) {
            Ok(()) => break,
            Err(error) => {
                assert!(error.is_conflict(), "{error}");
                assert!(tries < 100, "{error}");
                lost = Some(error);
            }
        }
    }
    is_over.store(true, Ordering::Relaxed);
    let times: i32 = writers
        .into_iter()
        .map(|writer| writer.join().expect("no panic"))
        .sum();
    let documents = block_on(all(&store));
    assert_eq!(documents[0], doc! { "_id": 1, "n": times });
    assert_eq!(documents.len(), 3);
}
