//! A process that was forked from the process that has opened a store: it has the memory, but not the threads.
//!
//! Without `unsafe`, no test can fork. So the store is made to take its own process for another one.

use std::sync::Arc;

use odm_store::{ErrorKind, Store, TransactionOptions};

use crate::Embedded;

/// A store in a process that was forked.
async fn forked() -> Embedded {
    let mut store = Embedded::memory().await.expect("a store");
    let handle = Arc::get_mut(&mut store.handle).expect("the only handle");
    handle.process ^= 1;
    store
}

#[tokio::test]
async fn a_forked_process_drops_a_store_without_waiting_for_its_threads() {
    let store = forked().await;
    let published = Arc::downgrade(&store.handle.published);
    drop(store);
    // The writer was not told to end, as it belongs to the other process.
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert!(published.upgrade().is_some());
}

#[tokio::test]
async fn a_forked_process_is_told_that_it_cannot_write() {
    let store = forked().await;
    let transaction = store.begin(TransactionOptions::default()).await;
    let transaction = transaction.expect("a transaction");
    let error = transaction.commit().await.expect_err("there is no writer");
    assert_eq!(error.kind(), ErrorKind::Closed);
    assert!(error.to_string().contains("forked"), "{error}");
    store.close().await.expect_err("there is no writer");
}
