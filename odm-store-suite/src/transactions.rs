//! Transactions that the caller drives, and conflicts between them.

use std::{sync::Arc, time::Duration};

use bson::doc;
use odm_store::{Durability, Result, Store, TransactionOptions};

use super::support::*;

pub async fn a_rollback_undoes_the_writes(store: impl Store) {
    insert_all(&store, [doc! { "_id": 1 }]).await;
    let mut transaction = begin(&store).await;
    let writes = [remove(doc! { "_id": 1 }), insert(doc! { "_id": 2 })];
    apply(&mut *transaction, &writes)
        .await
        .expect("the batch is applied");
    transaction
        .rollback()
        .await
        .expect("the transaction is rolled back");
    assert_stored(&store, [doc! { "_id": 1 }]).await;
    // A later write meets no remains of the transaction.
    insert_all(&store, [doc! { "_id": 2 }]).await;
}

pub async fn a_dropped_transaction_is_rolled_back(store: impl Store) {
    insert_all(&store, [doc! { "_id": 1 }]).await;
    let mut transaction = begin(&store).await;
    let writes = [remove(doc! { "_id": 1 }), insert(doc! { "_id": 2 })];
    apply(&mut *transaction, &writes)
        .await
        .expect("the batch is applied");
    drop(transaction);
    assert_stored(&store, [doc! { "_id": 1 }]).await;
    insert_all(&store, [doc! { "_id": 2 }]).await;
}

/// However long it reads, and whatever others commit meanwhile: where they wait for its end, afterwards.
pub async fn a_transaction_that_only_reads_sees_one_state_and_never_fails(store: impl Store) {
    insert_all(&store, [doc! { "_id": 1 }, doc! { "_id": 2 }]).await;
    let transaction = begin(&store).await;
    assert_eq!(ids(&*transaction, &query(doc! {})).await, [1, 2]);
    let reading = async {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert_eq!(ids(&*transaction, &query(doc! {})).await, [1, 2]);
        let (count, _) = transaction
            .count(&query(doc! {}))
            .await
            .expect("the query runs");
        assert_eq!((count, got(&*transaction, [3.into()]).await), (2, vec![]));
        transaction.commit().await.expect("the transaction commits");
    };
    let writing = async {
        let writes = [remove(doc! { "_id": 1 }), insert(doc! { "_id": 3 })];
        write(&store, &writes).await.expect("the batch is applied");
    };
    match store.capabilities().outer_writes {
        true => {
            writing.await;
            reading.await;
        }
        false => drop(tokio::join!(reading, writing)),
    }
    assert_stored(&store, [doc! { "_id": 2 }, doc! { "_id": 3 }]).await;
}

pub async fn others_write_beside_a_transaction_or_wait_for_its_end(store: impl Store) {
    // Two transactions may conflict if both create the collection.
    insert_all(&store, [doc! { "_id": 0 }]).await;
    let mut transaction = begin(&store).await;
    let writes = [insert(doc! { "_id": 1 })];
    let applied = apply(&mut *transaction, &writes).await;
    applied.expect("the batch is applied");
    let writes = [insert(doc! { "_id": 2 })];
    let mut other = Box::pin(write(&store, &writes));
    if store.capabilities().outer_writes {
        (&mut other).await.expect("the batch is applied");
    } else {
        let early = tokio::time::timeout(Duration::from_millis(30), &mut other).await;
        assert!(early.is_err(), "written beside a transaction: {early:?}");
    }
    transaction.commit().await.expect("the transaction commits");
    if !store.capabilities().outer_writes {
        (&mut other).await.expect("the batch is applied");
    }
    let stored = [0, 1, 2].map(|id| doc! { "_id": id });
    assert_stored(&store, stored).await;
}

pub async fn a_transaction_without_writes_commits(store: impl Store) {
    insert_all(&store, [doc! { "_id": 1 }]).await;
    let transaction = begin(&store).await;
    assert_eq!(ids(&*transaction, &query(doc! {})).await, [1]);
    transaction.commit().await.expect("the transaction commits");
}

pub async fn an_eventual_commit_is_visible_at_once(store: impl Store) {
    let options = TransactionOptions::default().durability(Durability::Eventual);
    let mut transaction = store.begin(options).await.expect("a transaction begins");
    let writes = [insert(doc! { "_id": 1 })];
    apply(&mut *transaction, &writes)
        .await
        .expect("the batch is applied");
    transaction.commit().await.expect("the transaction commits");
    assert_stored(&store, [doc! { "_id": 1 }]).await;
}

/// Reads a number and writes the next one, again after each conflict.
async fn count_up(store: &impl Store) {
    loop {
        let mut transaction = begin(store).await;
        let counted = async {
            let before = got(&*transaction, [1.into()]).await.remove(0).1;
            let n = before.get_i32("n").expect("a number");
            tokio::task::yield_now().await;
            let writes = [Write::Replace(before, raw(doc! { "_id": 1, "n": n + 1 }))];
            apply(&mut *transaction, &writes).await
        };
        let result = match counted.await {
            Ok(()) => transaction.commit().await,
            Err(error) => Err(error),
        };
        match result {
            Ok(()) => return,
            Err(error) => assert!(error.is_retryable(), "{error:?}"),
        }
    }
}

pub async fn no_update_is_lost_between_transactions(store: impl Store) {
    insert_all(&store, [doc! { "_id": 1, "n": 0 }]).await;
    let store = Arc::new(store);
    let tasks = (0..8).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            for _ in 0..3 {
                count_up(&*store).await;
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.expect("the task ends");
    }
    assert_stored(&*store, [doc! { "_id": 1, "n": 24 }]).await;
}

/// Runs two transactions that begin on one state, and returns the end of the second, which writes
/// after the first has committed.
async fn conflict(store: &impl Store, first: &[Write], second: &[Write]) -> Result<()> {
    let mut one = begin(store).await;
    let mut two = begin(store).await;
    // The first read may fix the state. On a serializable store, the transactions do not conflict over it.
    for transaction in [&one, &two] {
        assert_eq!(got(&**transaction, [0.into()]).await, []);
    }
    apply(&mut *one, first).await?;
    one.commit().await.expect("the first transaction commits");
    match apply(&mut *two, second).await {
        Ok(()) => two.commit().await,
        Err(error) => {
            two.rollback()
                .await
                .expect("the transaction is rolled back");
            Err(error)
        }
    }
}

pub async fn of_two_transactions_that_change_one_document_the_second_fails_retryably(
    store: impl Store,
) {
    if !store.capabilities().outer_writes {
        return; // The second would not begin before the first ends.
    }
    insert_all(&store, [doc! { "_id": 1, "n": 1 }]).await;
    let before = || doc! { "_id": 1, "n": 1 };
    let changed = doc! { "_id": 1, "n": 2 };
    let first = [replace(before(), changed.clone())];
    for second in [
        replace(before(), doc! { "_id": 1, "n": 3 }),
        remove(before()),
    ] {
        let second = [insert(doc! { "_id": 9 }), second];
        let error = conflict(&store, &first, &second)
            .await
            .expect_err("the second has lost");
        assert!(error.is_retryable(), "{error:?}");
        assert_stored(&store, [changed.clone()]).await;
        write(&store, &[replace(changed.clone(), before())])
            .await
            .expect("the batch is applied");
    }
}

pub async fn of_two_transactions_that_add_one_key_the_second_fails_retryably(store: impl Store) {
    if !store.capabilities().outer_writes {
        return; // The second would not begin before the first ends.
    }
    ensure(&store, vec![unique("n", &["n"])]).await;
    let first = [insert(doc! { "_id": 1, "n": 1 })];
    for second in [doc! { "_id": 1, "n": 2 }, doc! { "_id": 2, "n": 1 }] {
        let second = [insert(doc! { "_id": 9, "n": 9 }), insert(second)];
        let error = conflict(&store, &first, &second)
            .await
            .expect_err("the second has lost");
        assert!(error.is_retryable(), "{error:?}");
        assert_stored(&store, [doc! { "_id": 1, "n": 1 }]).await;
        write(&store, &[remove(doc! { "_id": 1, "n": 1 })])
            .await
            .expect("the batch is applied");
    }
}

pub async fn transactions_that_change_different_documents_both_commit(store: impl Store) {
    if !store.capabilities().outer_writes {
        return; // The second would not begin before the first ends.
    }
    ensure(&store, vec![unique("n", &["n"])]).await;
    insert_all(
        &store,
        [doc! { "_id": 1, "n": 1 }, doc! { "_id": 2, "n": 2 }],
    )
    .await;
    let first = [replace(
        doc! { "_id": 1, "n": 1 },
        doc! { "_id": 1, "n": 10 },
    )];
    let second = [replace(
        doc! { "_id": 2, "n": 2 },
        doc! { "_id": 2, "n": 20 },
    )];
    conflict(&store, &first, &second)
        .await
        .expect("there is no conflict");
    assert_stored(
        &store,
        [doc! { "_id": 1, "n": 10 }, doc! { "_id": 2, "n": 20 }],
    )
    .await;
}
