//! Groups of units: each has its own fate, and no unit is visible too early.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use async_trait::async_trait;
use bson::{doc, rawdoc};
use odm_store::{Durability, ErrorKind, Result, Store, Transaction, UnitOfWork};
use proptest::prelude::*;
use tokio::sync::Notify;

use super::support::*;
use crate::Embedded;
use crate::disk::Disk;

/// A unit that holds the writer until it is released.
struct Holding {
    has_begun: Notify,
    is_over: Notify,
}

#[async_trait]
impl UnitOfWork for Holding {
    async fn run(&self, _: &mut dyn Transaction) -> Result<()> {
        self.has_begun.notify_one();
        self.is_over.notified().await;
        Ok(())
    }
}

struct Held(Arc<Holding>);

impl Held {
    fn release(self) {
        self.0.is_over.notify_one();
    }
}

/// Holds the writer, so that the requests that are sent meanwhile form one group.
async fn hold(store: &Embedded) -> Held {
    let holding = Arc::new(Holding {
        has_begun: Notify::new(),
        is_over: Notify::new(),
    });
    tokio::spawn({
        let (store, unit) = (store.clone(), holding.clone());
        async move { store.run(unit, Durability::Eventual).await }
    });
    holding.has_begun.notified().await;
    Held(holding)
}

/// Waits until the queue has taken the requests that were sent to it.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(30)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn units_that_wait_are_committed_together() {
    let disk = Disk::default();
    let store = Embedded::builder()
        .backend(disk.clone())
        .await
        .expect("a store");
    insert(&store, vec![doc! { "_id": -1 }])
        .await
        .expect("an insert");
    let held = hold(&store).await;
    let tasks: Vec<_> = (0..64)
        .map(|i| {
            let store = store.clone();
            tokio::spawn(async move { insert(&store, vec![doc! { "_id": i }]).await })
        })
        .collect();
    settle().await;
    let before = disk.syncs();
    held.release();
    for task in tasks {
        task.await.expect("no panic").expect("an insert");
    }
    assert!(
        disk.syncs() - before <= 3,
        "{} syncs",
        disk.syncs() - before
    );
    assert_eq!(all(&store).await.len(), 65);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unit_that_fails_or_panics_is_undone_alone() {
    let store = things(vec![unique("by_n", &[("n", 1)])]).await;
    let held = hold(&store).await;
    let units = [
        vec![Write::Insert(vec![doc! { "_id": 1, "n": 1 }])],
        // Stores one document, and then meets a key that the first unit of the group has taken.
        vec![
            Write::Insert(vec![doc! { "_id": 2, "n": [2, 3] }]),
            Write::Insert(vec![doc! { "_id": 3, "n": 1 }]),
        ],
        vec![
            Write::Update(doc! {}, doc! { "$set": { "m": 7 } }),
            Write::Panic,
        ],
        vec![Write::Insert(vec![doc! { "_id": 4, "n": 2 }])],
    ];
    let tasks: Vec<_> = units
        .into_iter()
        .map(|unit| {
            let store = store.clone();
            tokio::spawn(async move { run(&store, unit).await.map_err(|error| error.kind()) })
        })
        .collect();
    settle().await;
    held.release();
    let mut results = Vec::new();
    for task in tasks {
        results.push(task.await.expect("no panic outside"));
    }
    // The tasks may reach the queue in another order: either of the first two may win the key.
    assert_eq!(results[2], Err(ErrorKind::TransactionAborted));
    assert_eq!(
        results
            .iter()
            .filter(|result| **result == Err(ErrorKind::DuplicateKey))
            .count(),
        1
    );
    store.check_integrity().await.expect("sound indexes");
    assert!(
        all(&store)
            .await
            .iter()
            .all(|document| document.get("m").is_none())
    );
}

/// A unit in which single calls fail, and which goes on.
struct Stubborn;

#[async_trait]
impl UnitOfWork for Stubborn {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        insert_all(&mut *transaction, "things", &[rawdoc! { "_id": 1, "n": 1 }]).await?;
        // The first of these is stored before the second is refused: both are undone.
        let batch = [rawdoc! { "_id": 2, "n": [5] }, rawdoc! { "_id": 1 }];
        insert_all(&mut *transaction, "things", &batch)
            .await
            .expect_err("taken");
        insert_all(&mut *transaction, "elsewhere", &[rawdoc! { "_id": [] }])
            .await
            .expect_err("refused");
        // The first call makes the collection and is undone, so that the second makes it again.
        let twice = [rawdoc! { "_id": 1, "n": [] }, rawdoc! { "_id": 1 }];
        insert_all(&mut *transaction, "new", &twice)
            .await
            .expect_err("taken");
        insert_all(&mut *transaction, "new", &[rawdoc! { "_id": 2 }]).await?;
        insert_all(&mut *transaction, "things", &[rawdoc! { "_id": 3, "n": 5 }]).await
    }
}

#[test]
fn a_call_that_fails_leaves_nothing_and_the_unit_can_go_on() {
    block_on(async {
        let disk = Disk::default();
        let store = Embedded::builder()
            .backend(disk.clone())
            .await
            .expect("a store");
        let things = collection("things", vec![unique("by_n", &[("n", 1)])]);
        store.ensure(&[things]).await.expect("a collection");
        store
            .run(Arc::new(Stubborn), Durability::Immediate)
            .await
            .expect("a unit");
        let documents = [doc! { "_id": 1, "n": 1 }, doc! { "_id": 3, "n": 5 }];
        assert_eq!(all(&store).await, documents);
        store.close().await.expect("a close");
        // The schema on the disk fits the documents.
        let store = Embedded::builder()
            .backend(disk.after_power_loss())
            .await
            .expect("a store");
        store.check_integrity().await.expect("sound indexes");
        assert_eq!(all(&store).await, documents);
        let new = odm_store::Find {
            collection: "new".to_owned(),
            ..find_all()
        };
        let reader = store.reader().expect("an open store");
        assert_eq!(found(&*reader, &new).await, [doc! { "_id": 2 }]);
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_group_of_units_leaves_what_those_that_succeeded_leave(
        units in prop::collection::vec(prop::collection::vec((0..6i32, 0..4i32), 1..4), 1..8),
    ) {
        // Each unit inserts documents; a unit that meets a taken key leaves nothing.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let store = things(vec![unique("by_n", &[("n", 1)])]).await;
            let held = hold(&store).await;
            let pending: Vec<_> = units
                .iter()
                .map(|unit| {
                    let writes = unit.iter().map(|(id, n)| Write::Insert(vec![doc! { "_id": id, "n": [n, n + 10] }]));
                    let writes = writes.collect();
                    let store = store.clone();
                    tokio::spawn(async move { run(&store, writes).await.is_ok() })
                })
                .collect();
            // On one thread the tasks run in the order in which they were spawned.
            tokio::task::yield_now().await;
            held.release();
            let mut model: Vec<(i32, i32)> = Vec::new();
            for (unit, done) in units.iter().zip(pending) {
                let mut next = model.clone();
                let fits = unit.iter().all(|(id, n)| {
                    let free = next.iter().all(|(taken, m)| taken != id && m != n);
                    next.push((*id, *n));
                    free
                });
                if fits {
                    model = next;
                }
                assert_eq!(done.await.expect("no panic"), fits);
            }
            model.sort_unstable();
            let stored: Vec<_> = all(&store).await.iter().map(|d| d.get_i32("_id").expect("an id")).collect();
            assert_eq!(stored, model.iter().map(|(id, _)| *id).collect::<Vec<_>>());
            store.check_integrity().await.expect("sound indexes");
        });
    }
}

/// Counts how often it runs.
struct Counting(Arc<AtomicUsize>);

#[async_trait]
impl UnitOfWork for Counting {
    async fn run(&self, _: &mut dyn Transaction) -> Result<()> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

#[tokio::test]
async fn a_unit_whose_caller_went_away_before_it_began_does_not_run() {
    let store = things(vec![]).await;
    let held = hold(&store).await;
    let ran = Arc::new(AtomicUsize::new(0));
    let waiting = store.run(Arc::new(Counting(ran.clone())), Durability::Immediate);
    assert!(
        tokio::time::timeout(Duration::from_millis(20), waiting)
            .await
            .is_err()
    );
    held.release();
    insert(&store, vec![doc! { "_id": 1 }])
        .await
        .expect("an insert");
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_visible_before_it_is_durable() {
    let disk = Disk::default();
    let store = Embedded::builder()
        .backend(disk.clone())
        .await
        .expect("a store");
    insert(&store, vec![doc! { "_id": 1 }])
        .await
        .expect("an insert");
    let gate = disk.hold_syncs();
    let task = tokio::spawn({
        let store = store.clone();
        async move { insert(&store, vec![doc! { "_id": 2 }]).await }
    });
    disk.until_sync_waits();
    assert_eq!(all(&store).await.len(), 1);
    assert!(!task.is_finished());
    drop(gate);
    task.await.expect("no panic").expect("an insert");
    assert_eq!(all(&store).await.len(), 2);
}

#[tokio::test]
async fn a_write_that_is_durable_soon_is_visible_at_once_and_synced_in_time() {
    let disk = Disk::default();
    let store = Embedded::builder()
        .flush_interval(Duration::from_millis(40))
        .backend(disk.clone())
        .await
        .expect("a store");
    insert(&store, vec![doc! { "_id": 1 }])
        .await
        .expect("an insert");
    let before = disk.syncs();
    let unit = Arc::new(Writes(vec![Write::Insert(vec![doc! { "_id": 2 }])]));
    store
        .run(unit, Durability::Eventual)
        .await
        .expect("an insert");
    assert_eq!(disk.syncs(), before);
    assert_eq!(all(&store).await.len(), 2);
    let lost = Embedded::builder()
        .backend(disk.after_power_loss())
        .await
        .expect("a store");
    assert_eq!(all(&lost).await.len(), 1);
    let deadline = Instant::now() + Duration::from_secs(5);
    while disk.syncs() == before {
        assert!(Instant::now() < deadline, "it was never synced");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tokio::time::sleep(Duration::from_millis(20)).await;
    let kept = Embedded::builder()
        .backend(disk.after_power_loss())
        .await
        .expect("a store");
    assert_eq!(all(&kept).await.len(), 2);
}

#[test]
fn a_store_that_is_told_soon_never_waits_for_the_disk_and_still_syncs_in_time() {
    block_on(async {
        let disk = Disk::default();
        let store = Embedded::builder()
            .durability(Durability::Eventual)
            .flush_interval(Duration::from_millis(30))
            .backend(disk.clone())
            .await
            .expect("a store");
        // The first one makes the log, beside a checkpoint.
        insert(&store, vec![doc! { "_id": -2 }])
            .await
            .expect("an insert");
        store.check().await.expect("a sound store");
        let before = disk.syncs();
        let started = Instant::now();
        insert(&store, vec![doc! { "_id": -1 }])
            .await
            .expect("an insert");
        assert!(disk.syncs() == before || started.elapsed() > Duration::from_millis(30));
        // One write follows the other without a pause.
        let mut written = 0;
        while disk.syncs() < before + 3 {
            insert(&store, vec![doc! { "_id": written }])
                .await
                .expect("an insert");
            written += 1;
            assert!(started.elapsed() < Duration::from_secs(20), "never synced");
        }
        assert!(written > 3);
    });
}

/// Notes the order in which units run.
struct Noting(usize, Arc<Mutex<Vec<usize>>>);

#[async_trait]
impl UnitOfWork for Noting {
    async fn run(&self, _: &mut dyn Transaction) -> Result<()> {
        self.1.lock().expect("no panic").push(self.0);
        Ok(())
    }
}

#[tokio::test]
async fn a_full_queue_makes_callers_wait_and_serves_them_in_their_order() {
    let store = Embedded::builder()
        .queue(2)
        .memory()
        .await
        .expect("a store");
    let held = hold(&store).await;
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut tasks = Vec::new();
    for i in 0..20 {
        let (store, order) = (store.clone(), order.clone());
        tasks.push(tokio::spawn(async move {
            store
                .run(Arc::new(Noting(i, order)), Durability::Immediate)
                .await
        }));
        tokio::task::yield_now().await;
    }
    // Most of them are not even in the queue.
    assert!(order.lock().expect("no panic").is_empty());
    held.release();
    for task in tasks {
        task.await.expect("no panic").expect("a unit");
    }
    assert_eq!(
        *order.lock().expect("no panic"),
        (0..20).collect::<Vec<_>>()
    );
}

/// Writes through the store that runs it.
struct Reentrant(Embedded);

#[async_trait]
impl UnitOfWork for Reentrant {
    async fn run(&self, _: &mut dyn Transaction) -> Result<()> {
        insert(&self.0, vec![doc! { "_id": 1 }]).await
    }
}

#[test]
fn a_unit_that_writes_past_its_transaction_is_told_so_at_once() {
    block_on(async {
        let store = things(vec![]).await;
        let unit = Arc::new(Reentrant(store.clone()));
        let error = store
            .run(unit, Durability::Immediate)
            .await
            .expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::OutsideTransaction);
    });
}

/// Waits for something that never comes.
struct Stuck;

#[async_trait]
impl UnitOfWork for Stuck {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        insert_all(&mut *transaction, "things", &[rawdoc! { "_id": 1 }]).await?;
        std::future::pending().await
    }
}

#[test]
fn a_unit_that_waits_for_something_else_does_not_stop_the_store() {
    block_on(async {
        let store = Embedded::builder()
            .transaction_limit(Duration::from_millis(30))
            .memory()
            .await
            .expect("a store");
        let error = store
            .run(Arc::new(Stuck), Durability::Immediate)
            .await
            .expect_err("too long");
        assert_eq!(error.kind(), ErrorKind::TransactionExpired);
        insert(&store, vec![doc! { "_id": 1 }])
            .await
            .expect("the store goes on");
    });
}

#[tokio::test]
async fn long_reads_let_other_tasks_run() {
    let store = things(vec![]).await;
    insert(
        &store,
        (0..5000).map(|i| doc! { "_id": i, "n": i % 7 }).collect(),
    )
    .await
    .expect("an insert");
    let others = Arc::new(AtomicUsize::new(0));
    let task = tokio::spawn({
        let others = others.clone();
        async move {
            loop {
                others.fetch_add(1, Ordering::SeqCst);
                tokio::task::yield_now().await;
            }
        }
    });
    tokio::task::yield_now().await;
    let before = others.load(Ordering::SeqCst);
    let find = odm_store::Find {
        sort: sort(doc! { "n": 1 }),
        ..find_all()
    };
    assert_eq!(
        found(&*store.reader().expect("an open store"), &find)
            .await
            .len(),
        5000
    );
    assert!(others.load(Ordering::SeqCst) >= before + 8);
    task.abort();
}
