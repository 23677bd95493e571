//! Transactions that a caller drives.

use std::{
    ops::ControlFlow,
    task::{Context, Waker},
    time::Duration,
};

use bson::{doc, rawdoc};
use odm_store::{CollectionSpec, Durability, ErrorKind, Find, Store, TransactionOptions};

use super::support::*;
use crate::Embedded;

fn options() -> TransactionOptions {
    TransactionOptions::default()
}

async fn impatient(limit: u64) -> Embedded {
    let limit = Duration::from_millis(limit);
    Embedded::builder()
        .transaction_limit(limit)
        .memory()
        .await
        .expect("a store")
}

#[test]
fn a_transaction_sees_its_own_writes_and_nobody_else_does_before_the_commit() {
    block_on(async {
        let store = things(vec![index("by_n", &[("n", 1)])]).await;
        let mut transaction = store.begin(options()).await.expect("a transaction");
        insert_all(&mut *transaction, "things", &[rawdoc! { "_id": 1, "n": 5 }])
            .await
            .expect("an insert");
        assert_eq!(found(&*transaction, &find_all()).await.len(), 1);
        assert_eq!(all(&store).await.len(), 0);
        transaction.commit().await.expect("a commit");
        assert_eq!(all(&store).await, [doc! { "_id": 1, "n": 5 }]);
    });
}

#[test]
fn a_transaction_that_is_rolled_back_or_dropped_leaves_nothing() {
    block_on(async {
        let store = things(vec![]).await;
        let mut transaction = store.begin(options()).await.expect("a transaction");
        insert_all(&mut *transaction, "things", &[rawdoc! { "_id": 1 }])
            .await
            .expect("an insert");
        transaction.rollback().await.expect("a rollback");
        let mut transaction = store.begin(options()).await.expect("a transaction");
        insert_all(&mut *transaction, "things", &[rawdoc! { "_id": 2 }])
            .await
            .expect("an insert");
        drop(transaction);
        insert(&store, vec![doc! { "_id": 3 }])
            .await
            .expect("the writer went on");
        assert_eq!(all(&store).await, [doc! { "_id": 3 }]);
    });
}

#[tokio::test]
async fn writes_go_on_beside_an_open_transaction() {
    let store = things(vec![]).await;
    let mut transaction = store.begin(options()).await.expect("a transaction");
    insert_all(&mut *transaction, "things", &[rawdoc! { "_id": 1 }])
        .await
        .expect("an insert");
    let other = insert(&store, vec![doc! { "_id": 1, "other": true }]);
    other.await.expect("an insert");
    let lost = transaction
        .commit()
        .await
        .expect_err("it has found no such document");
    assert!(lost.is_retryable(), "{lost}");
    assert_eq!(all(&store).await, [doc! { "_id": 1, "other": true }]);
}

#[tokio::test]
async fn every_call_after_the_time_limit_says_that_the_transaction_expired() {
    let store = impatient(30).await;
    let mut transaction = store.begin(options()).await.expect("a transaction");
    insert_all(&mut *transaction, "things", &[rawdoc! { "_id": 1 }])
        .await
        .expect("an insert");
    // Others go on.
    insert(&store, vec![doc! { "_id": 2 }])
        .await
        .expect("an insert");
    tokio::time::sleep(Duration::from_millis(40)).await;
    let expired = |error: odm_store::Error| {
        assert_eq!(error.kind(), ErrorKind::TransactionExpired);
    };
    expired(
        insert_all(&mut *transaction, "things", &[rawdoc! { "_id": 3 }])
            .await
            .expect_err("expired"),
    );
    expired(
        transaction
            .update(&update(doc! {}, doc! { "$set": { "n": 1 } }))
            .await
            .expect_err("expired"),
    );
    expired(
        transaction
            .delete(&delete(doc! {}))
            .await
            .expect_err("expired"),
    );
    expired(
        transaction
            .find(&find_all(), &mut |_, _| Ok(ControlFlow::Continue(())))
            .await
            .expect_err("expired"),
    );
    expired(transaction.commit().await.expect_err("expired"));
    assert_eq!(all(&store).await, [doc! { "_id": 2 }]);
}

#[tokio::test]
async fn a_commit_and_the_time_limit_never_both_win() {
    // The commit comes about when the limit is over: its answer is true, regardless of which comes first.
    let mut committed = 0;
    for round in 0..60 {
        let store = impatient(10).await;
        let mut transaction = store.begin(options()).await.expect("a transaction");
        let inserted = insert_all(&mut *transaction, "things", &[rawdoc! { "_id": 1 }]).await;
        std::thread::sleep(Duration::from_micros(9400 + round * 10));
        let result = match inserted {
            Ok(()) => transaction.commit().await,
            Err(error) => Err(error),
        };
        if let Err(error) = &result {
            assert_eq!(error.kind(), ErrorKind::TransactionExpired);
        }
        insert(&store, vec![doc! { "_id": 2 }])
            .await
            .expect("an insert");
        assert_eq!(all(&store).await.len(), 1 + usize::from(result.is_ok()));
        committed += usize::from(result.is_ok());
    }
    println!("{committed} of 60 were committed");
}

#[tokio::test(flavor = "multi_thread")]
async fn begins_that_are_dropped_at_any_moment_never_hold_the_writer() {
    let store = things(vec![]).await;
    for round in 0..200u64 {
        let limit = Duration::from_micros(round % 40);
        if let Ok(transaction) = tokio::time::timeout(limit, store.begin(options())).await {
            drop(transaction.expect("a transaction"));
        }
    }
    let write = insert(&store, vec![doc! { "_id": 1 }]);
    tokio::time::timeout(Duration::from_secs(2), write)
        .await
        .expect("no waiting")
        .expect("an insert");
}

#[tokio::test]
async fn a_call_in_a_transaction_never_stops_midway() {
    let store = things(vec![index("by_n", &[("n", 1)])]).await;
    insert(
        &store,
        (0..3000).map(|i| doc! { "_id": i, "n": 1 }).collect(),
    )
    .await
    .expect("an insert");
    let mut transaction = store.begin(options()).await.expect("a transaction");
    let write = update(doc! { "n": { "$gte": 0 } }, doc! { "$inc": { "n": 1 } });
    {
        // A caller who stops polling an operation would hold up all others in the transaction.
        let mut update = transaction.update(&write);
        let mut context = Context::from_waker(Waker::noop());
        assert!(update.as_mut().poll(&mut context).is_ready());
    }
    let changed = odm_store::Find {
        filter: filter(doc! { "n": 2 }),
        ..find_all()
    };
    let mut count = transaction.count(&changed);
    let mut context = Context::from_waker(Waker::noop());
    match count.as_mut().poll(&mut context) {
        std::task::Poll::Ready(count) => assert_eq!(count.expect("a count").0, 3000),
        std::task::Poll::Pending => panic!("a read stopped midway"),
    }
    drop(count);
    transaction.commit().await.expect("a commit");
    store.check_integrity().await.expect("sound indexes");
}

#[test]
fn a_closed_store_refuses_everything_and_says_why() {
    block_on(async {
        let store = things(vec![]).await;
        let other = store.clone();
        let reader = store.reader().expect("an open store");
        store.close().await.expect("a close");
        store.close().await.expect("to close twice does nothing");
        let closed =
            |error: odm_store::Error| assert_eq!(error.kind(), ErrorKind::Closed, "{error:?}");
        closed(
            insert(&other, vec![doc! { "_id": 1 }])
                .await
                .expect_err("closed"),
        );
        closed(other.begin(options()).await.err().expect("closed"));
        closed(other.ensure(&[]).await.expect_err("closed"));
        closed(other.reader().err().expect("closed"));
        // A reader gets an error as well, or the data in memory, and no panic.
        let _ = reader
            .find(&find_all(), &mut |_, _| Ok(ControlFlow::Continue(())))
            .await;
    });
}

#[tokio::test]
async fn a_close_does_not_wait_for_an_open_transaction_which_is_rolled_back() {
    let store = things(vec![]).await;
    let mut transaction = store.begin(options()).await.expect("a transaction");
    insert_all(&mut *transaction, "things", &[rawdoc! { "_id": 1 }])
        .await
        .expect("an insert");
    store.close().await.expect("a close");
    let error = transaction.commit().await.expect_err("it is closed");
    assert_eq!(error.kind(), ErrorKind::Closed);
}

#[test]
fn a_store_can_be_dropped_while_its_own_unit_runs() {
    block_on(async {
        struct Holding(Embedded);
        #[async_trait::async_trait]
        impl odm_store::UnitOfWork for Holding {
            async fn run(&self, _: &mut dyn odm_store::Transaction) -> odm_store::Result<()> {
                let _ = &self.0;
                Ok(())
            }
        }
        // The last handle may be dropped on the writer's own thread, which must not wait for itself.
        let store = things(vec![]).await;
        let unit = std::sync::Arc::new(Holding(store.clone()));
        store
            .run(unit, Durability::Immediate)
            .await
            .expect("a unit");
    });
}

#[tokio::test]
async fn an_index_that_turns_multikey_hides_no_document_from_a_commit() {
    let store = things(vec![index("by_t", &[("t", 1)])]).await;
    let others = collection("others", vec![]);
    store.ensure(&[others]).await.expect("a collection");
    let between = Find {
        filter: filter(doc! { "t": { "$gt": 3, "$lt": 7 } }),
        ..find_all()
    };
    let mut transaction = store.begin(options()).await.expect("a transaction");
    assert_eq!(found(&*transaction, &between).await.len(), 0);
    // It matches by its two elements, and none of its entries is within the range that was read.
    let matching = doc! { "_id": 1, "t": [1, 9] };
    insert(&store, vec![matching.clone()])
        .await
        .expect("an insert");
    assert_eq!(
        found(&*store.reader().expect("a reader"), &between).await,
        [matching]
    );
    insert_all(&mut *transaction, "others", &[rawdoc! { "_id": 2 }])
        .await
        .expect("an insert");
    let lost = transaction.commit().await.expect_err("a phantom");
    assert!(lost.is_retryable(), "{lost}");
}

#[tokio::test]
async fn an_index_that_is_made_or_dropped_meanwhile_has_the_entries_of_a_commit() {
    let indexes = || vec![index("by_n", &[("n", 1)])];
    let made = collection("things", indexes());
    let dropped = CollectionSpec {
        obsolete: indexes(),
        ..collection("things", vec![])
    };
    for (first, then) in [(vec![], made), (indexes(), dropped)] {
        let store = things(first).await;
        insert(
            &store,
            (0..50).map(|id| doc! { "_id": id, "n": id }).collect(),
        )
        .await
        .expect("an insert");
        let mut begun = 0;
        // The same again on the new state, as a closure is run again.
        loop {
            let mut transaction = store.begin(options()).await.expect("a transaction");
            begun += 1;
            let documents = [rawdoc! { "_id": 100, "n": 7 }];
            insert_all(&mut *transaction, "things", &documents)
                .await
                .expect("an insert");
            let removed = transaction.delete(&delete(doc! { "_id": 8 })).await;
            assert_eq!(removed.expect("a delete").removed, 1);
            if begun == 1 {
                store
                    .ensure(std::slice::from_ref(&then))
                    .await
                    .expect("the indexes");
            }
            match transaction.commit().await {
                Ok(()) => break,
                Err(error) => assert!(error.is_retryable(), "{error}"),
            }
        }
        assert_eq!(begun, 2);
        store.check_integrity().await.expect("sound indexes");
        let sevens = Find {
            filter: filter(doc! { "n": 7 }),
            ..find_all()
        };
        assert_eq!(
            found(&*store.reader().expect("a reader"), &sevens)
                .await
                .len(),
            2
        );
    }
}
