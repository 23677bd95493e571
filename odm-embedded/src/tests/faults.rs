//! Disk failures and power losses at every moment of a short history.

use std::sync::Arc;

use bson::doc;
use odm_store::{CollectionSpec, Durability, ErrorKind, Result, Store};

use super::support::*;
use crate::Embedded;
use crate::disk::Disk;

/// A store with a small cache, so that reads go to the disk, and a log that is soon full.
async fn open(disk: &Disk) -> Result<Embedded> {
    Embedded::builder()
        .cache_size(64 << 10)
        .log_size(48 << 10)
        .backend(disk.clone())
        .await
}

const UNITS: i32 = 6;

/// The state after unit `n` of the history: two documents, and a mark in all earlier ones.
fn expected(units: i32) -> Vec<bson::Document> {
    let mut documents = Vec::new();
    for n in 0..units {
        for half in 0..2 {
            documents.push(
                doc! { "_id": n * 2 + half, "n": n, "last": units - 1, "text": "x".repeat(900) },
            );
        }
    }
    documents
}

fn unit(n: i32) -> Vec<Write> {
    let document =
        |half: i32| doc! { "_id": n * 2 + half, "n": n, "last": n, "text": "x".repeat(900) };
    vec![
        Write::Insert(vec![document(0)]),
        Write::Update(doc! {}, doc! { "$set": { "last": n } }),
        Write::Insert(vec![document(1)]),
    ]
}

/// Runs the history until something fails, and returns how many units were acknowledged.
async fn history(disk: &Disk, durability: Durability) -> i32 {
    let Ok(store) = open(disk).await else {
        return 0;
    };
    let indexes = vec![
        index("by_n", &[("n", 1)]),
        index("by_last", &[("last", -1), ("n", 1)]),
    ];
    if store
        .ensure(&[collection("things", indexes)])
        .await
        .is_err()
    {
        return 0;
    }
    for n in 0..UNITS {
        let unit = Arc::new(Writes(unit(n)));
        if let Err(error) = store.run(unit, durability).await {
            // Earlier commits can still be read, in an acknowledged state.
            let state = all(&store).await;
            assert_eq!(state, expected(n), "after {error}");
            let again = insert(&store, vec![doc! { "_id": -1 }])
                .await
                .expect_err("it is broken");
            assert_eq!(again.kind(), ErrorKind::Closed, "{again:?}");
            assert!(store.reader().is_ok());
            return n;
        }
    }
    UNITS
}

/// Checks that a disk holds only whole units, the first ones in order, and at least `acknowledged` of them.
async fn check(disk: &Disk, acknowledged: i32, at: usize) {
    let store = open(disk)
        .await
        .unwrap_or_else(|error| panic!("after operation {at}: {error:?}"));
    store
        .check_integrity()
        .await
        .unwrap_or_else(|error| panic!("after operation {at}: {error:?}"));
    let state = all(&store).await;
    let units = state.len() as i32 / 2;
    assert_eq!(state, expected(units), "after operation {at}");
    assert!(
        units >= acknowledged,
        "operation {at}: {units} of {acknowledged} units"
    );
    insert(&store, vec![doc! { "_id": -1 }])
        .await
        .expect("a store that works");
}

#[test]
fn a_disk_that_fails_at_any_operation_loses_no_acknowledged_unit_and_no_half() {
    block_on(async {
        let whole = Disk::formatted().await;
        assert_eq!(history(&whole, Durability::Immediate).await, UNITS);
        let operations = whole.operations();
        assert!(operations > 50);
        for at in 0..operations {
            let disk = Disk::formatted().await;
            disk.fail_after(at);
            let acknowledged = history(&disk, Durability::Immediate).await;
            check(&disk.after_exit(), acknowledged, at).await;
            check(&disk.after_power_loss(), acknowledged, at).await;
            check(&disk.after_partial_loss(at as u64), acknowledged, at).await;
        }
    });
}

#[test]
fn writes_that_are_durable_soon_are_lost_from_the_end_and_never_in_half() {
    block_on(async {
        let whole = Disk::formatted().await;
        assert_eq!(history(&whole, Durability::Eventual).await, UNITS);
        for at in 0..whole.operations() {
            let disk = Disk::formatted().await;
            disk.fail_after(at);
            history(&disk, Durability::Eventual).await;
            check(&disk.after_exit(), 0, at).await;
            check(&disk.after_power_loss(), 0, at).await;
        }
        // After an orderly close, all units are there.
        check(&whole.after_power_loss(), UNITS, 0).await;
    });
}

#[test]
fn a_disk_that_fails_while_an_index_is_built_leaves_the_old_indexes() {
    block_on(async {
        let specs = || [collection("things", vec![unique("by_n", &[("n", 1)])])];
        let before = Disk::default();
        {
            let store = open(&before).await.expect("a store");
            let documents =
                (0..200).map(|n| doc! { "_id": n, "n": format!("{n}{}", "x".repeat(100)) });
            insert(&store, documents.collect())
                .await
                .expect("an insert");
        }
        let data = before.after_exit();
        let whole = data.after_exit();
        let first = {
            let store = open(&whole).await.expect("a store");
            let first = whole.operations();
            store.ensure(&specs()).await.expect("an index");
            first
        };
        for at in first..whole.operations() {
            let disk = data.after_exit();
            disk.fail_after(at);
            if let Ok(store) = open(&disk).await {
                let _ = store.ensure(&specs()).await;
            }
            for left in [disk.after_exit(), disk.after_power_loss()] {
                let store = open(&left).await.expect("a store");
                store.check_integrity().await.expect("sound indexes");
                store.ensure(&specs()).await.expect("an index");
                store.check_integrity().await.expect("sound indexes");
                assert_eq!(all(&store).await.len(), 200);
            }
        }
    });
}

#[test]
fn a_disk_that_fails_while_an_index_takes_the_place_of_another_leaves_one_of_the_two() {
    // One index whose name stays, and one that is only removed.
    let old = || vec![index("i", &[("n", 1)]), unique("j", &[("m", 1)])];
    let new = || CollectionSpec {
        obsolete: old(),
        ..collection("things", vec![unique("i", &[("n", -1)])])
    };
    block_on(async {
        let before = Disk::default();
        {
            let store = open(&before).await.expect("a store");
            let things = [collection("things", old())];
            store.ensure(&things).await.expect("the old indexes");
            let documents =
                (0..80).map(|n| doc! { "_id": n, "n": format!("{n}{}", "x".repeat(100)), "m": n });
            insert(&store, documents.collect())
                .await
                .expect("an insert");
        }
        let data = before.after_exit();
        let whole = data.after_exit();
        let first = {
            let store = open(&whole).await.expect("a store");
            let first = whole.operations();
            store.ensure(&[new()]).await.expect("the new index");
            first
        };
        let mut seen = [0; 2];
        for at in first..whole.operations() {
            let disk = data.after_exit();
            disk.fail_after(at);
            let mut ensured = None;
            if let Ok(store) = open(&disk).await {
                ensured = Some(store.ensure(&[new()]).await.is_ok());
            }
            for left in [
                disk.after_exit(),
                disk.after_power_loss(),
                disk.after_partial_loss(at as u64),
            ] {
                let store = open(&left).await.expect("a store");
                store.check_integrity().await.expect("sound indexes");
                let schema = without_garbage(&store);
                let things = schema.collection("things").expect("the collection");
                let specs = things.in_force().map(|index| index.spec.clone());
                let specs: Vec<_> = specs.collect();
                let is_new = specs == new().indexes;
                assert!(is_new || specs == old(), "after operation {at}: {specs:?}");
                assert!(is_new || ensured != Some(true), "after operation {at}");
                seen[usize::from(is_new)] += 1;
                store.ensure(&[new()]).await.expect("the new index");
                store.check_integrity().await.expect("sound indexes");
                assert_eq!(all(&store).await.len(), 80);
            }
        }
        assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");
    });
}

#[test]
fn a_failure_names_its_cause_to_all_units_of_the_group() {
    block_on(async {
        let disk = Disk::default();
        let store = open(&disk).await.expect("a store");
        insert(&store, vec![doc! { "_id": 1 }])
            .await
            .expect("an insert");
        disk.fail_after(0);
        let error = insert(&store, vec![doc! { "_id": 2 }])
            .await
            .expect_err("it is broken");
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.to_string().contains("the disk is broken"), "{error}");
        assert!(std::error::Error::source(&error).is_some());
        let error = store.close().await.expect_err("it is broken");
        assert_eq!(error.kind(), ErrorKind::Closed);
    });
}

#[test]
fn a_disk_that_fails_at_any_operation_of_the_close_makes_it_an_error() {
    block_on(async {
        let open_with_data = async |disk: &Disk| {
            let store = open(disk).await.expect("a store");
            insert(&store, vec![doc! { "_id": 1 }])
                .await
                .expect("an insert");
            store
        };
        let whole = Disk::formatted().await;
        let store = open_with_data(&whole).await;
        let first = whole.operations();
        store.close().await.expect("a close");
        assert!(whole.operations() > first + 5);
        for at in first..whole.operations() {
            let disk = Disk::formatted().await;
            let store = open_with_data(&disk).await;
            assert_eq!(disk.operations(), first);
            disk.fail_after(at - first);
            let closed = store.close().await;
            assert!(closed.is_err(), "operation {at}: {closed:?}");
            for left in [disk.after_exit(), disk.after_power_loss()] {
                let store = open(&left).await.expect("a store");
                assert_eq!(all(&store).await, [doc! { "_id": 1 }], "operation {at}");
            }
        }
    });
}

#[test]
fn data_on_a_failed_disk_can_be_read_even_if_the_cache_holds_nothing_of_it() {
    block_on(async {
        let text = |text: &str, times| {
            let text = text.repeat(times);
            (1..300).map(move |n| doc! { "_id": n, "text": text.clone() })
        };
        let (old, new): (Vec<_>, Vec<_>) = (text("x", 500).collect(), text("y", 700).collect());
        for at in 0..30 {
            let disk = Disk::default();
            let store = Embedded::builder()
                .cache_size(0)
                .backend(disk.clone())
                .await
                .expect("a store");
            let mut documents = vec![doc! { "_id": 0 }];
            documents.extend(old.iter().cloned());
            insert(&store, documents).await.expect("an insert");
            for durability in [Durability::Eventual, Durability::Immediate] {
                let unit = Arc::new(Writes(vec![Write::Update(
                    doc! { "_id": 0 },
                    doc! { "$inc": { "n": 1 } },
                )]));
                store.run(unit, durability).await.expect("an update");
            }
            disk.fail_after(at);
            let unit = vec![Write::Update(
                doc! {},
                doc! { "$set": { "text": "y".repeat(700) } },
            )];
            let is_written = run(&store, unit).await.is_ok();
            // The disk fails in the log, or in the checkpoint.
            let is_checked = store.check().await.is_ok();
            assert!(!is_checked || at > 10, "{at}: it is broken");
            let state = all(&store).await;
            let expected = if is_written { &new } else { &old };
            assert!(state[1..] == *expected, "{at}: {is_written}");
            store.check_integrity().await.expect("a sound state");
        }
    });
}
