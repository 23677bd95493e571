//! Units of work.

use std::{pin::pin, sync::Arc, task::Poll, time::Duration};

use async_trait::async_trait;
use bson::doc;
use odm_store::{Durability, Error, ErrorKind, Result, Store, Transaction, UnitOfWork};

use super::support::*;
use crate::poll_once;

/// Inserts documents in several batches, with waits in between, and may fail then.
struct Inserts {
    ids: std::ops::Range<i32>,
    error: Option<Error>,
}

#[async_trait]
impl UnitOfWork for Inserts {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        for id in self.ids.clone() {
            apply(transaction, &[insert(doc! { "_id": id })]).await?;
            tokio::task::yield_now().await;
        }
        match &self.error {
            None => Ok(()),
            Some(error) => Err(error.clone()),
        }
    }
}

/// Reads a number, and writes the next one.
struct CountUp;

#[async_trait]
impl UnitOfWork for CountUp {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        let before = got(&*transaction, [1.into()]).await.remove(0).1;
        let n = before.get_i32("n").expect("a number");
        tokio::task::yield_now().await;
        let after = raw(doc! { "_id": 1, "n": n + 1 });
        apply(transaction, &[Write::Replace(before, after)]).await
    }
}

fn inserts(ids: std::ops::Range<i32>) -> Arc<Inserts> {
    Arc::new(Inserts { ids, error: None })
}

pub async fn a_unit_is_committed_when_run_returns(store: impl Store) {
    for (durability, ids) in [(Durability::Immediate, 0..3), (Durability::Eventual, 3..6)] {
        let run = store.run(inserts(ids.clone()), durability).await;
        run.expect("the unit runs");
        assert_stored(&store, (0..ids.end).map(|id| doc! { "_id": id })).await;
    }
}

pub async fn a_unit_that_returns_an_error_is_rolled_back(store: impl Store) {
    insert_all(&store, [doc! { "_id": 1 }]).await;
    let failing = Arc::new(Inserts {
        ids: 5..8,
        error: Some(Error::new(
            ErrorKind::Restricted,
            "delete refused: try another",
        )),
    });
    let run = store.run(failing, Durability::Immediate).await;
    let error = assert_fails(run, ErrorKind::Restricted);
    assert_eq!(error.to_string(), "delete refused: try another");
    // By a write of its own.
    let run = store.run(inserts(0..3), Durability::Immediate).await;
    assert_fails(run, ErrorKind::DuplicateKey);
    assert_stored(&store, [doc! { "_id": 1 }]).await;
}

pub async fn units_that_conflict_all_run(store: impl Store) {
    insert_all(&store, [doc! { "_id": 1, "n": 0 }]).await;
    let store = Arc::new(store);
    let tasks = (0..8).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            for _ in 0..3 {
                let run = store.run(Arc::new(CountUp), Durability::Eventual).await;
                run.expect("the unit runs");
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.expect("the task ends");
    }
    assert_stored(&*store, [doc! { "_id": 1, "n": 24 }]).await;
}

pub async fn a_dropped_future_of_a_unit_leaves_all_of_it_or_nothing(store: impl Store) {
    const EACH: i32 = 4;
    let complete = |count: usize| count.is_multiple_of(EACH as usize);
    for round in 0..20 {
        let first = round * EACH;
        {
            let run = store.run(inserts(first..first + EACH), Durability::Immediate);
            let mut run = pin!(run);
            for polls in 0..round {
                if let Poll::Ready(ran) = poll_once(&mut run).await {
                    ran.expect("the unit runs");
                    break;
                }
                tokio::time::sleep(Duration::from_micros(10 << (polls % 8))).await;
            }
        }
        assert!(
            complete(stored(&store).await.len()),
            "a part of a unit is visible"
        );
    }
    // A later unit is committed after all units that are still running.
    let last = 20 * EACH;
    let run = store
        .run(inserts(last..last + EACH), Durability::Immediate)
        .await;
    run.expect("the unit runs");
    let stored = stored(&store).await;
    for unit in stored.chunks(EACH as usize) {
        let first = id_of(&unit[0]);
        assert_eq!(first % EACH, 0, "a part of a unit is stored");
        let expected = (first..first + EACH).map(|id| raw(doc! { "_id": id }));
        assert_eq!(unit, expected.collect::<Vec<_>>());
    }
}

pub async fn a_dropped_begin_holds_nothing(store: impl Store) {
    for round in 0..10 {
        {
            let mut begin = pin!(store.begin(Default::default()));
            for _ in 0..round % 3 {
                if poll_once(&mut begin).await.is_ready() {
                    break;
                }
                tokio::time::sleep(Duration::from_micros(50)).await;
            }
        }
        write(&store, &[insert(doc! { "_id": round })])
            .await
            .expect("the batch is applied");
    }
}
