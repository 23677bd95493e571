//! Writers go on while a compaction copies, and the new file has their writes.

use std::{collections::BTreeMap, thread::JoinHandle};

use fastrand::Rng;
use futures_util::future::join;
use odm_store::{CollectionChange, CollectionSpec};

use super::*;
use crate::Compacted;

type Compacting = JoinHandle<Result<Compacted>>;

fn compact(store: &Embedded) -> Compacting {
    let store = store.clone();
    std::thread::spawn(move || block_on(store.compact()))
}

fn ended(compacting: Compacting) -> Result<Compacted> {
    compacting.join().expect("no panic")
}

/// A store on a disk in memory, with the documents of which most are deleted.
async fn thinned() -> (Disk, Embedded) {
    let disk = Disk::default();
    let builder = Embedded::builder().cache_size(64 << 10);
    let store = builder.backend(disk.clone()).await.expect("a store");
    fill(&store).await;
    // A checkpoint: if not, the file has never had them.
    store.check().await.expect("a sound store");
    thin_out(&store).await;
    (disk, store)
}

/// All documents, after a crash as well.
async fn check(store: &Embedded, disk: &Disk, expected: &[Document]) {
    assert_eq!(all(store).await, expected);
    store.check_integrity().await.expect("sound indexes");
    for left in [disk.after_exit(), disk.after_power_loss()] {
        let left = Embedded::builder().backend(left).await.expect("a store");
        assert_eq!(all(&left).await, expected);
        left.check().await.expect("a sound store");
    }
}

#[test]
fn units_and_transactions_are_committed_while_a_compaction_copies() {
    block_on(async {
        let (disk, store) = thinned().await;
        let gate = disk.hold_copies();
        let compacting = compact(&store);
        disk.until_copy_waits();
        let mut expected = left();
        for number in 0..100 {
            let one = thing(DOCUMENTS + number);
            let insert = Write::Insert(vec![one.clone()]);
            if number % 3 == 0 {
                let transaction = store.begin(TransactionOptions::default());
                let mut transaction = transaction.await.expect("a transaction");
                apply(&mut *transaction, &insert).await.expect("an insert");
                transaction.commit().await.expect("a commit");
            } else {
                run(&store, vec![insert]).await.expect("an insert");
            }
            expected.push(one);
        }
        // A checkpoint, too.
        store.check().await.expect("a sound store");
        let deleted = expected.remove(0);
        run(
            &store,
            vec![Write::Delete(doc! { "_id": deleted.get("_id") })],
        )
        .await
        .expect("a delete");
        assert_eq!(all(&store).await, expected);
        assert!(!compacting.is_finished(), "the copy waits");
        drop(gate);
        let compacted = ended(compacting).expect("a compaction");
        assert!(compacted.after < compacted.before / 3, "{compacted:?}");
        check(&store, &disk, &expected).await;
    });
}

/// The bytes of the pages that hold all entries.
fn pages(store: &Embedded) -> u64 {
    let state = store.handle.published.get().expect("a state");
    let trees = state.base.trees().expect("the trees").into_iter();
    let sizes = trees.map(|tree| state.base.size(tree).expect("a size").pages);
    sizes.sum()
}

#[test]
fn a_compacted_file_is_hardly_longer_than_the_pages_in_use() {
    block_on(async {
        let (_, store) = thinned().await;
        for begin in (0..6_000).step_by(1_000) {
            let documents = (DOCUMENTS + begin..DOCUMENTS + begin + 1_000).map(thing);
            insert(&store, documents.collect())
                .await
                .expect("an insert");
            let compacted = store.compact().await.expect("a compaction");
            let in_use = pages(&store);
            // The engine's own pages take as much in any store.
            let most = in_use + in_use / 10 + (64 << 10);
            assert!(compacted.after <= most, "{compacted:?}: {in_use} in use");
        }
    });
}

/// A store that was closed has no log, which is made by the checkpoint before the copy.
#[test]
fn the_first_units_beside_a_compaction_of_a_closed_store_survive_a_crash() {
    block_on(async {
        let disk = Disk::formatted().await;
        let builder = Embedded::builder().backend(disk.clone());
        let store = builder.await.expect("a store");
        store.ensure(&specs()).await.expect("the collection");
        store.close().await.expect("a close");
        for (syncs, number) in (0..20).zip(1..) {
            let builder = Embedded::builder().backend(disk.clone());
            let store = builder.await.expect("a store");
            disk.slow_syncs(Duration::from_micros(100 * syncs));
            let inserted = async {
                insert(&store, vec![thing(number)]).await.expect("a unit");
                all(&Embedded::builder().backend(disk.after_exit()).await?).await;
                Ok(())
            };
            let (compacted, left): (_, Result<()>) = join(store.compact(), inserted).await;
            compacted.expect("a compaction");
            left.expect("a store after a crash");
            store.close().await.expect("a close");
        }
    });
}

#[test]
fn a_compaction_that_is_asked_for_during_another_comes_after_it() {
    block_on(async {
        let (disk, store) = thinned().await;
        let gate = disk.hold_copies();
        let first = compact(&store);
        disk.until_copy_waits();
        // This one is dropped before it begins.
        let mut dropped = Box::pin(store.compact());
        let asked =
            std::future::poll_fn(|cx| std::task::Poll::Ready(dropped.as_mut().poll(cx))).await;
        assert!(asked.is_pending());
        let second = compact(&store);
        run(&store, vec![Write::Delete(doc! {})])
            .await
            .expect("a delete");
        drop(dropped);
        drop(gate);
        let first = ended(first).expect("a compaction");
        let second = ended(second).expect("a compaction");
        assert!(second.before < first.before / 3, "{first:?} {second:?}");
        assert!(second.after < second.before, "{second:?}");
        check(&store, &disk, &[]).await;
    });
}

#[test]
fn a_store_that_is_closed_while_it_is_compacted_keeps_its_file() {
    block_on(async {
        let (disk, store) = thinned().await;
        let gate = disk.hold_copies();
        let compacting = compact(&store);
        disk.until_copy_waits();
        let waiting = compact(&store);
        insert(&store, vec![thing(1)]).await.expect("an insert");
        let release = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            drop(gate);
        });
        store.close().await.expect("a close");
        release.join().expect("no panic");
        for compacting in [compacting, waiting] {
            let error = ended(compacting).expect_err("the store is closed");
            assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
        }
        assert!(disk.log_bytes().is_none(), "it was not closed");
        let store = Embedded::builder().backend(disk).await.expect("a store");
        assert_eq!(all(&store).await.len(), left().len() + 1);
    });
}

#[test]
fn a_new_file_that_cannot_be_written_holds_up_no_writer() {
    block_on(async {
        let (disk, store) = thinned().await;
        let gate = disk.hold_copies();
        let compacting = compact(&store);
        disk.until_copy_waits();
        insert(&store, vec![thing(1)]).await.expect("an insert");
        disk.fail_after(0);
        drop(gate);
        let error = ended(compacting).expect_err("the disk is full");
        assert_eq!(error.kind(), ErrorKind::Io, "{error}");
        disk.heal();
        insert(&store, vec![thing(2)]).await.expect("an insert");
        store.compact().await.expect("a compaction");
        let mut expected = left();
        expected.splice(1..1, [thing(1), thing(2)]);
        check(&store, &disk, &expected).await;
    });
}

#[test]
fn a_snapshot_from_before_and_one_from_within_a_compaction_stay_as_they_are() {
    block_on(async {
        let (disk, store) = thinned().await;
        let before = store.reader().expect("a snapshot");
        let gate = disk.hold_copies();
        let compacting = compact(&store);
        disk.until_copy_waits();
        insert(&store, vec![thing(1)]).await.expect("an insert");
        let within = store.reader().expect("a snapshot");
        let transaction = store.begin(TransactionOptions::default());
        let mut transaction = transaction.await.expect("a transaction");
        drop(gate);
        ended(compacting).expect("a compaction");
        run(&store, vec![Write::Delete(doc! {})])
            .await
            .expect("a delete");
        assert_eq!(found(&*before, &find_all()).await, left());
        assert_eq!(found(&*within, &find_all()).await.len(), left().len() + 1);
        // A transaction that began within goes on, and is checked.
        let documents = found(&*transaction, &find_all()).await;
        assert_eq!(documents.len(), left().len() + 1);
        let lost = Write::Insert(vec![thing(2)]);
        apply(&mut *transaction, &lost).await.expect("an insert");
        let error = transaction.commit().await.expect_err("a conflict");
        assert!(error.is_retryable(), "{error}");
        check(&store, &disk, &[]).await;
    });
}

/// The indexes of a moment.
fn some_specs(random: &mut Rng) -> [CollectionSpec; 1] {
    let more = vec![index("more", &[("text", 1), ("n", -1)])];
    let [mut things] = specs();
    match random.bool() {
        true => things.indexes.extend(more),
        false => things.obsolete = more,
    }
    [things]
}

/// Puts an empty collection in the place of the one with the documents.
async fn empty(store: &Embedded) {
    let create = CollectionChange::Create {
        name: "beside".into(),
        indexes: specs()[0].indexes.clone(),
        collation: None,
    };
    let replace = CollectionChange::Replace {
        from: "beside".into(),
        to: "things".into(),
    };
    for change in [create, replace] {
        loop {
            let transaction = store.begin(TransactionOptions::default()).await;
            let mut transaction = transaction.expect("a transaction");
            let changed = transaction.change_collections(std::slice::from_ref(&change));
            changed.await.expect("a change");
            match transaction.commit().await {
                // A sweep.
                Err(error) if error.is_retryable() => {}
                result => break result.expect("a commit"),
            }
        }
    }
}

/// Writes of all kinds beside compactions, one after another. The log and the groups are small, so that there are many checkpoints, and
/// large units.
async fn random_history(seed: u64, compactions: usize) -> [usize; 3] {
    let random = &mut Rng::with_seed(seed);
    let disk = Disk::default();
    let open = async |disk: &Disk| {
        let builder = Embedded::builder()
            .cache_size(64 << 10)
            .log_size(64 << 10)
            .load_size(8 << 10)
            .large_units(100 << 10, 16 << 10);
        builder.backend(disk.clone()).await.expect("a store")
    };
    let store = open(&disk).await;
    store.ensure(&specs()).await.expect("a collection");
    let mut model: BTreeMap<i32, Document> = (0..400).map(|id| (id, thing(id))).collect();
    insert(&store, model.values().cloned().collect())
        .await
        .expect("an insert");
    disk.slow_copies(Duration::from_micros(300));
    // How many units were committed beside a copy, how many of them were large, and how often collections were replaced.
    let mut counts = [0; 3];
    for _ in 0..compactions {
        let compacting = compact(&store);
        while !compacting.is_finished() {
            let begin = random.i32(0..1_000);
            let count = [1, 1, 1, 3, 40, 250][random.usize(0..6)];
            match random.u16(0..60) {
                0 => {
                    empty(&store).await;
                    model.clear();
                    counts[2] += 1;
                }
                1 | 2 => store
                    .ensure(&some_specs(random))
                    .await
                    .expect("the indexes"),
                3 => store.check().await.expect("a sound store"),
                4 => {
                    let crashed = open(&disk.after_power_loss()).await;
                    let expected: Vec<_> = model.values().cloned().collect();
                    assert_eq!(all(&crashed).await, expected, "SEED={seed}");
                    crashed.check_integrity().await.expect("sound indexes");
                }
                _ => {
                    let ids = begin..begin + count;
                    let delete = doc! { "_id": { "$gte": ids.start, "$lt": ids.end } };
                    let mut writes = vec![Write::Delete(delete)];
                    model.retain(|id, _| !ids.contains(id));
                    if random.u8(0..3) > 0 {
                        let documents: Vec<_> = ids.map(thing).collect();
                        model.extend(documents.iter().map(|document| {
                            let id = document.get_i32("_id").expect("an id");
                            (id, document.clone())
                        }));
                        writes.push(Write::Insert(documents));
                    }
                    run(&store, writes).await.expect("a unit");
                    counts[0] += 1;
                    counts[1] += usize::from(count == 250);
                }
            }
        }
        ended(compacting).expect("a compaction");
        let expected: Vec<_> = model.values().cloned().collect();
        check(&store, &disk, &expected).await;
    }
    counts
}

/// `COMPACTIONS` is their number, `SEED` the history.
#[test]
fn a_compacted_file_has_all_that_was_written_beside_the_copy() {
    let number = |name: &str| -> Option<u64> { std::env::var(name).ok()?.parse().ok() };
    let compactions = number("COMPACTIONS").unwrap_or(8) as usize;
    let seed = number("SEED").unwrap_or(std::process::id().into());
    println!("to have the same history again: SEED={seed} COMPACTIONS={compactions}");
    let counts = block_on(random_history(seed, compactions));
    println!("units, large units, replaced collections: {counts:?}");
    let [units, large, _] = counts;
    assert!(units > 10 * compactions && large > 0, "{counts:?}");
}

/// Compacts a store and writes to it at the same time, until something fails. Returns how many units were acknowledged, and whether the
/// compaction succeeded.
async fn history_beside(store: Embedded) -> (i32, bool) {
    let writes = async {
        let mut acknowledged = BEFORE;
        // More than the log takes between two checkpoints.
        while acknowledged < BEFORE + 12 {
            let written = insert(&store, vec![small_thing(acknowledged)]).await;
            if written.is_err() {
                break;
            }
            acknowledged += 1;
        }
        acknowledged
    };
    let (compacted, acknowledged) = join(store.compact(), writes).await;
    assert_eq!(all(&store).await, small_things(acknowledged));
    let _ = store.close().await;
    (acknowledged, compacted.is_ok())
}

#[test]
fn a_disk_that_fails_at_any_operation_beside_writers_leaves_all_units_in_one_of_the_files() {
    block_on(async {
        let data = small_disk(BEFORE).await;
        let begin = async || {
            let disk = data.after_exit();
            let store = small(&disk).await.expect("a store");
            (disk, store)
        };
        let (disk, store) = begin().await;
        let first = disk.operations();
        assert_eq!(history_beside(store).await, (BEFORE + 12, true));
        let operations = disk.operations() - first;
        let mut compacted = [0; 2];
        for at in 0..operations {
            let (disk, store) = begin().await;
            disk.fail_after(at);
            let (acknowledged, is_compacted) = history_beside(store).await;
            compacted[usize::from(is_compacted)] += 1;
            super::check(&disk.after_exit(), acknowledged, at).await;
            super::check(&disk.after_power_loss(), acknowledged, at).await;
            super::check(&disk.after_partial_loss(at as u64), acknowledged, at).await;
        }
        assert!(compacted.iter().all(|&count| count > 5), "{compacted:?}");
    });
}
