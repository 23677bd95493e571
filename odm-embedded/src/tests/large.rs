//! Units of work whose changes exceed the memory of a group.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bson::{Document, doc, rawdoc};
use odm_store::{
    Durability, Error, ErrorKind, Find, Result, Store, Transaction, TransactionOptions, UnitOfWork,
};

use super::support::*;
use crate::Embedded;
use crate::disk::Disk;

/// Bounds that a few documents exceed, and a cache that they exceed as well.
async fn small(disk: Disk) -> Result<Embedded> {
    Embedded::builder()
        .cache_size(64 << 10)
        .large_units(16 << 10, 4 << 10)
        .backend(disk)
        .await
}

/// A store with 300 documents and two indexes.
async fn filled(disk: Disk) -> Result<Embedded> {
    let store = small(disk).await?;
    let indexes = vec![
        unique("by_n", &[("n", 1)]),
        index("by_text", &[("text", -1), ("n", 1)]),
    ];
    store.ensure(&[collection("things", indexes)]).await?;
    insert(&store, (0..300).map(old).collect()).await?;
    Ok(store)
}

fn old(n: i32) -> Document {
    doc! { "_id": n, "n": n, "text": format!("old {}", n % 7), "filler": "x".repeat(300) }
}

fn all_old() -> Vec<Document> {
    (0..300).map(old).collect()
}

/// Writes that change all documents, exchange unique values and add and remove some.
fn changes() -> Vec<Write> {
    let mut writes: Vec<Write> = (0..300)
        .map(|n| {
            let query = doc! { "_id": n };
            Write::Update(query, doc! { "$set": { "text": format!("new {}", n % 5) } })
        })
        .collect();
    writes.push(Write::Delete(doc! { "_id": { "$gte": 290 } }));
    writes.push(Write::Insert(
        (0..10)
            .map(|n| doc! { "_id": 1000 + n, "n": 290 + n, "text": "added" })
            .collect(),
    ));
    writes.push(Write::Update(
        doc! { "n": { "$lt": 100 } },
        doc! { "$inc": { "n": -1000 } },
    ));
    writes
}

/// A unit that counts its runs, and may fail at its end.
struct Counted {
    writes: Vec<Write>,
    runs: AtomicUsize,
    fails: bool,
}

impl Counted {
    fn new(writes: Vec<Write>, fails: bool) -> Arc<Counted> {
        Arc::new(Counted {
            writes,
            runs: AtomicUsize::new(0),
            fails,
        })
    }

    /// It has run in a group and alone, and before that on the thread of its caller, unless the writer was in use at that moment.
    fn assert_runs(&self) {
        let runs = self.runs.load(Ordering::SeqCst);
        assert!(runs == 2 || runs == 3, "{runs} runs");
    }
}

#[async_trait]
impl UnitOfWork for Counted {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        for write in &self.writes {
            apply(transaction, write).await?;
        }
        match self.fails {
            false => Ok(()),
            true => Err(Error::new(
                ErrorKind::Restricted,
                "the unit fails at its end",
            )),
        }
    }
}

/// The result of the changes, in a store that needs no large unit for them.
async fn all_new() -> Vec<Document> {
    let indexes = vec![unique("by_n", &[("n", 1)])];
    let store = things(indexes).await;
    insert(&store, all_old()).await.expect("an insert");
    run(&store, changes()).await.expect("the changes");
    all(&store).await
}

async fn assert_state(store: &Embedded, expected: &[Document]) {
    let state = all(store).await;
    assert_eq!(ids(&state), ids(expected));
    for (document, expected) in state.iter().zip(expected) {
        assert_eq!(document, expected);
    }
    store.check_integrity().await.expect("sound indexes");
}

#[test]
fn a_unit_of_more_than_64_mib_is_stored_whole() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.odm");
        let store = Embedded::open(&path).await.expect("a store");
        let writes = (0..18)
            .map(|n| Write::Insert(vec![doc! { "_id": n, "text": "x".repeat(4 << 20) }]))
            .collect();
        let unit = Counted::new(writes, false);
        store
            .run(unit.clone(), Durability::Eventual)
            .await
            .expect("a unit");
        unit.assert_runs();
        store.close().await.expect("a close");
        let store = Embedded::open(&path).await.expect("a store");
        assert_eq!(all(&store).await.len(), 18);
    });
}

#[test]
fn a_large_unit_leaves_what_a_small_one_would_and_survives_a_power_loss_at_once() {
    block_on(async {
        let disk = Disk::default();
        let store = filled(disk.clone()).await.expect("a store");
        let unit = Counted::new(changes(), false);
        store
            .run(unit.clone(), Durability::Eventual)
            .await
            .expect("the changes");
        unit.assert_runs();
        let expected = all_new().await;
        assert_state(&store, &expected).await;
        let reopened = small(disk.after_power_loss()).await.expect("a store");
        assert_state(&reopened, &expected).await;
        insert(&store, vec![doc! { "_id": -1 }])
            .await
            .expect("a store that goes on");
        assert_eq!(all(&store).await.len(), expected.len() + 1);
    });
}

#[test]
fn a_large_unit_that_fails_or_panics_leaves_nothing() {
    block_on(async {
        for ending in [None, Some(Write::Panic)] {
            let disk = Disk::default();
            let store = filled(disk.clone()).await.expect("a store");
            let mut writes = changes();
            writes.extend(ending);
            let unit = Counted::new(writes, true);
            store
                .run(unit.clone(), Durability::Immediate)
                .await
                .expect_err("it fails");
            unit.assert_runs();
            assert_state(&store, &all_old()).await;
            insert(&store, vec![doc! { "_id": 300 }])
                .await
                .expect("a store that goes on");
            store.close().await.expect("a close");
            let reopened = small(disk.after_power_loss()).await.expect("a store");
            let mut expected = all_old();
            expected.push(doc! { "_id": 300 });
            assert_state(&reopened, &expected).await;
        }
    });
}

#[test]
fn a_disk_that_fails_or_loses_power_during_a_large_unit_has_the_old_state_or_the_new() {
    block_on(async {
        let before = Disk::default();
        filled(before.clone())
            .await
            .expect("a store")
            .close()
            .await
            .expect("a close");
        let expected = all_new().await;
        let whole = before.after_exit();
        let store = small(whole.clone()).await.expect("a store");
        let first = whole.operations();
        run(&store, changes()).await.expect("the changes");
        let operations = whole.operations();
        assert!(operations > first + 50, "the cache writes pages meanwhile");
        let mut old = 0;
        for at in (first..operations).step_by(((operations - first) / 16).max(1)) {
            let disk = before.after_exit();
            disk.fail_after(at);
            let store = small(disk.clone()).await.expect("a store");
            let ran = run(&store, changes()).await;
            assert!(ran.is_err(), "operation {at}");
            assert_state(&store, &all_old()).await;
            let again = insert(&store, vec![doc! { "_id": -1 }]).await;
            assert_eq!(again.expect_err("it is broken").kind(), ErrorKind::Closed);
            drop(store);
            let disks = [
                disk.after_exit(),
                disk.after_power_loss(),
                disk.after_partial_loss(at as u64),
            ];
            for disk in disks {
                let reopened = small(disk).await.expect("a store");
                let state = all(&reopened).await;
                old += usize::from(state == all_old());
                assert!(state == all_old() || state == expected, "operation {at}");
                reopened.check_integrity().await.expect("sound indexes");
            }
        }
        assert!(old > 16, "{old} times the old state");
    });
}

/// Reads in the middle of its writes, through its transaction and from outside.
struct Reading {
    outside: Embedded,
    steps: AtomicUsize,
}

#[async_trait]
impl UnitOfWork for Reading {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        for n in 0..300 {
            let change = doc! { "$set": { "text": format!("new {n:03}"), "n": -n } };
            let write = Write::Update(doc! { "_id": n }, change);
            apply(transaction, &write).await?;
            if n % 50 != 49 {
                continue;
            }
            let changed = n as usize + 1;
            let new = Find {
                filter: filter(doc! { "text": { "$gte": "new", "$lt": "nex" } }),
                sort: sort(doc! { "text": -1 }),
                ..find_all()
            };
            for sign in [-1, 1] {
                let find = Find {
                    sort: sort(doc! { "text": sign }),
                    ..new.clone()
                };
                let found = found(&*transaction, &find).await;
                let ids: Vec<i32> = found
                    .iter()
                    .map(|document| document.get_i32("_id").expect("a number"))
                    .collect();
                let expected: Vec<i32> = match sign {
                    1 => (0..=n).collect(),
                    _ => (0..=n).rev().collect(),
                };
                assert_eq!(ids, expected);
            }
            let (count, _) = transaction.count(&new).await?;
            assert_eq!(count, changed as u64);
            assert_eq!(found(&*transaction, &find_all()).await.len(), 300);
            assert_eq!(all(&self.outside).await, all_old());
            self.steps.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    }
}

#[test]
fn a_large_unit_sees_its_own_changes_and_readers_see_none_of_them_before_its_end() {
    block_on(async {
        let store = filled(Disk::default()).await.expect("a store");
        let reader = store.reader().expect("an open store");
        let unit = Arc::new(Reading {
            outside: store.clone(),
            steps: AtomicUsize::new(0),
        });
        store
            .run(unit.clone(), Durability::Immediate)
            .await
            .expect("a unit");
        assert!(unit.steps.load(Ordering::SeqCst) >= 6);
        assert_eq!(found(&*reader, &find_all()).await, all_old());
        assert_ne!(all(&store).await, all_old());
        store.check_integrity().await.expect("sound indexes");
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn the_units_around_a_large_one_are_stored_whether_it_fails_or_not() {
    for fails in [false, true] {
        let store = filled(Disk::default()).await.expect("a store");
        let held = store
            .begin(TransactionOptions::default())
            .await
            .expect("a transaction");
        let mut tasks = Vec::new();
        for n in 0..5 {
            let (store, large) = (store.clone(), n == 2);
            tasks.push(tokio::spawn(async move {
                match large {
                    true => {
                        store
                            .run(Counted::new(changes(), fails), Durability::Immediate)
                            .await
                    }
                    false => insert(&store, vec![doc! { "_id": -1 - n, "n": 5000 + n }]).await,
                }
            }));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        held.rollback().await.expect("a rollback");
        for (n, task) in tasks.into_iter().enumerate() {
            let result = task.await.expect("no panic outside");
            assert_eq!(result.is_err(), fails && n == 2, "{result:?}");
        }
        let mut expected = if fails { all_old() } else { all_new().await };
        for n in [0, 1, 3, 4] {
            expected.insert(0, doc! { "_id": -1 - n, "n": 5000 + n });
        }
        assert_state(&store, &expected).await;
    }
}

/// Makes calls that fail, and goes on after them.
struct Persistent {
    documents: i32,
    kinds: Mutex<Vec<ErrorKind>>,
}

#[async_trait]
impl UnitOfWork for Persistent {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        apply(
            transaction,
            &Write::Update(doc! {}, doc! { "$set": { "text": "new" } }),
        )
        .await?;
        self.kinds.lock().expect("no panic").clear();
        // The last document of the batch is refused, since its `_id` is taken.
        let mut batch: Vec<_> = (0..self.documents)
            .map(|n| rawdoc! { "_id": 1000 + n, "n": 1000 + n })
            .collect();
        batch.push(rawdoc! { "_id": 0 });
        for _ in 0..2 {
            let error = insert_all(transaction, "things", &batch)
                .await
                .expect_err("taken");
            self.kinds.lock().expect("no panic").push(error.kind());
        }
        Ok(())
    }
}

#[test]
fn a_call_that_fails_is_undone_alone_unless_it_is_large_itself() {
    block_on(async {
        for (documents, kind) in [
            (2, ErrorKind::DuplicateKey),
            (100, ErrorKind::TransactionAborted),
        ] {
            let store = filled(Disk::default()).await.expect("a store");
            let unit = Arc::new(Persistent {
                documents,
                kinds: Mutex::default(),
            });
            let ran = store.run(unit.clone(), Durability::Immediate).await;
            assert_eq!(
                *unit.kinds.lock().expect("no panic"),
                [ErrorKind::DuplicateKey, kind]
            );
            let state = all(&store).await;
            assert_eq!(state.len(), 300);
            match documents {
                2 => {
                    ran.expect("a unit");
                    assert!(
                        state
                            .iter()
                            .all(|document| document["text"] == "new".into())
                    );
                }
                _ => {
                    assert_eq!(
                        ran.expect_err("aborted").kind(),
                        ErrorKind::TransactionAborted
                    );
                    assert_eq!(state, all_old());
                }
            }
            store.check_integrity().await.expect("sound indexes");
        }
    });
}
