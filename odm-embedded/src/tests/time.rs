//! The time limits of units and transactions.

use std::{
    ops::ControlFlow,
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use bson::{doc, rawdoc};
use odm_store::{Durability, ErrorKind, Result, Store, Transaction, UnitOfWork};

use super::support::*;
use crate::{Builder, Embedded};

const LIMIT: Duration = Duration::from_millis(500);

/// The time after which a unit ends by itself if nothing else stops it, so that its test fails.
const ENDLESS: Duration = Duration::from_secs(20);

/// More than a chunk of a read.
const DOCUMENTS: i32 = 1500;

/// How a unit takes its time.
#[derive(Clone, Copy, PartialEq)]
enum Long {
    /// In many calls, and it returns the first error.
    Calls,
    /// In many calls, and it goes on after errors.
    Stubborn,
    /// In one call that reads many documents.
    OneRead,
}

#[async_trait]
impl UnitOfWork for Long {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        let start = Instant::now();
        insert_all(&mut *transaction, "things", &[rawdoc! { "_id": -1 }]).await?;
        if *self == Long::OneRead {
            let slow = &mut |at, _: &bson::RawDocument| {
                assert!(at < DOCUMENTS as usize - 10, "the read goes on");
                std::thread::sleep(Duration::from_millis(1));
                Ok(ControlFlow::Continue(()))
            };
            return transaction.find(&find_all(), slow).await.map(drop);
        }
        while start.elapsed() < ENDLESS {
            let read = transaction.count(&find_all()).await;
            match (self, read) {
                (_, Ok(_)) => {}
                (Long::Stubborn, Err(_)) => return Ok(()),
                (_, Err(error)) => return Err(error),
            }
        }
        Ok(())
    }
}

async fn is_limited(builder: Builder) {
    let store = builder.unit_time_limit(LIMIT).memory().await;
    let store = store.expect("a store");
    for chunk in 0..DOCUMENTS / 100 {
        let ids = chunk * 100..(chunk + 1) * 100;
        insert(&store, ids.map(|i| doc! { "_id": i }).collect())
            .await
            .expect("an insert");
    }
    for unit in [Long::Calls, Long::Stubborn, Long::OneRead] {
        let start = Instant::now();
        let error = store
            .run(Arc::new(unit), Durability::Immediate)
            .await
            .expect_err("too long");
        assert!(start.elapsed() >= LIMIT);
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
        assert!(!error.is_retryable());
        let text = error.to_string();
        assert!(
            text.contains("500ms") && text.contains("unit_time_limit"),
            "{text}"
        );
        insert(&store, vec![doc! { "_id": -1 }])
            .await
            .expect("nothing is stored, and the store goes on");
        run(&store, vec![Write::Delete(doc! { "_id": -1 })])
            .await
            .expect("a delete");
    }
    assert_eq!(all(&store).await.len(), DOCUMENTS as usize);
}

#[test]
fn a_unit_that_computes_for_too_long_is_undone_and_others_go_on() {
    block_on(is_limited(Embedded::builder()));
}

#[test]
fn a_unit_that_runs_by_itself_has_the_same_time() {
    block_on(is_limited(Embedded::builder().large_units(0, 1 << 20)));
}

#[test]
fn a_unit_without_a_time_limit_is_one_of_the_longest_duration() {
    block_on(async {
        let builder = Embedded::builder().unit_time_limit(Duration::MAX);
        let store = builder.memory().await.expect("a store");
        insert(&store, vec![doc! { "_id": 1 }])
            .await
            .expect("an insert");
    });
}
