//! Late messages.

use std::time::Duration;

use odm::{ErrorKind, OpenOptions, prelude::*};
use tests::{
    TestDatabase, on_mongodb_database,
    proxy::{Delay, Proxy, Side},
};

use super::{
    cuts::{Cuts, insert, rename, visit},
    models::{Library, state},
    servers::{Alone, Counter, Mark, Together, counter},
};

const MOST: Duration = Duration::from_secs(200);
const PATIENCE: Duration = Duration::from_secs(10);
/// Longer than the time in which a write without a transaction needs no second check.
const LATE: Duration = Duration::from_millis(700);
/// Longer than the wait of the declaration of other models for such writes.
const TOO_LATE: Duration = Duration::from_secs(4);

/// Holds up each message of an act in turn. Returns the commands with a late answer of the first one.
async fn at_each_message(
    cuts: &Cuts,
    act: impl AsyncFn(&Library) -> odm::Result<()>,
) -> Vec<String> {
    cuts.begin().await;
    cuts.proxy.plan(None);
    act(&cuts.library).await.unwrap();
    let messages = cuts.proxy.commands().len();
    let done = cuts.right("in time").await;
    let mut commands = Vec::new();
    for side in [Side::Request, Side::Answer] {
        for at in (1..=messages).rev() {
            cuts.begin().await;
            assert_ne!(state(&cuts.store).await, done);
            let delay = Delay { at, side, by: LATE };
            cuts.proxy.delay(delay);
            act(&cuts.library).await.unwrap_or_else(|error| panic!("{delay:?}: {error}"));
            commands = cuts.proxy.commands();
            assert_eq!(cuts.right(&format!("{delay:?}")).await, done, "{delay:?}");
        }
    }
    commands
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_late_message_changes_nothing_on_mongodb() {
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        let cuts = Cuts::new(server, PATIENCE).await;
        at_each_message(&cuts, insert).await;
        at_each_message(&cuts, rename).await;
        let commands = at_each_message(&cuts, visit).await;
        if server.has_bulk_write().await {
            // The epoch was checked once more.
            assert_eq!(commands, ["bulkWrite", "bulkWrite"]);
        }
    });
}

/// Counts a hit by a write without a transaction with one late message, while another program declares that hits are copied, and copies
/// them. Returns the result of the write, and the hits of the counter and of the mark.
async fn while_others_declare(server: &TestDatabase, side: Side) -> (odm::Result<()>, i64, i64) {
    let options = || OpenOptions::default().refresh_every(None);
    let proxy = Proxy::new(server);
    let store = proxy.store(server, PATIENCE).await;
    let alone = Alone::open_with(store, options()).await.unwrap();
    alone.counters.insert(counter(1)).await.unwrap();
    proxy.delay(Delay { at: 1, side, by: TOO_LATE });
    let write = alone.counters.update(1).inc(Counter::fields().hits, 1);
    let declare = async {
        while proxy.commands().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let together = Together::open_with(server.store().await, options()).await.unwrap();
        let mark = Mark { id: 1, counter: Ref::new(1), hits: 0 };
        together.marks.insert(mark).await.unwrap();
        together
    };
    let (written, together) = tokio::join!(async { write.await }, declare);
    assert_eq!(together.audit().await.unwrap(), []);
    let counter = together.counters.get(1).await.unwrap();
    (written, counter.hits, together.marks.get(1).await.unwrap().hits)
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_write_that_comes_late_follows_what_was_declared_meanwhile_on_mongodb() {
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        let (written, hits, copied) = while_others_declare(server, Side::Request).await;
        written.unwrap();
        assert_eq!((hits, copied), (1, 1));
    });
}

#[test]
#[ignore = "needs a MongoDB server, which ODM_TEST_MONGODB_URI names"]
fn a_write_whose_answer_comes_late_says_that_more_may_follow_from_it_on_mongodb() {
    on_mongodb_database(MOST, async |server: &TestDatabase| {
        if !server.has_bulk_write().await {
            // The write is a transaction, which is run again in the new epoch.
            return;
        }
        let (written, hits, copied) = while_others_declare(server, Side::Answer).await;
        let error = written.unwrap_err();
        assert!(error.kind() == ErrorKind::Unavailable && !error.is_retryable(), "{error}");
        assert!(error.to_string().contains("audit()"), "{error}");
        assert_eq!((hits, copied), (1, 1));
    });
}
