//! The redo log: its cost, its length, and that a store is opened only with its own log.

use std::{
    fs,
    future::poll_fn,
    path::{Path, PathBuf},
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Wake, Waker},
    thread,
    time::{Duration, Instant},
};

use bson::{Document, doc};
use odm_store::{Durability, Error, ErrorKind, Result, Store, TransactionOptions};

use super::{damage::has_begun_another, support::*};
use crate::disk::Disk;
use crate::{
    Embedded,
    engine::Engine,
    layout::META,
    log::{Log, RECORD},
};

/// A store with a log that is soon full.
async fn open(disk: &Disk) -> Result<Embedded> {
    Embedded::builder()
        .log_size(64 << 10)
        .backend(disk.clone())
        .await
}

/// A disk with a store that has a log, and has written into it.
async fn logged() -> (Disk, Embedded) {
    let disk = Disk::default();
    let store = open(&disk).await.expect("a store");
    for id in 0..3 {
        insert(&store, vec![doc! { "_id": id }])
            .await
            .expect("an insert");
    }
    (disk, store)
}

#[test]
fn a_durable_write_takes_one_sync_and_a_store_that_writes_nothing_has_no_log() {
    block_on(async {
        let disk = Disk::formatted().await;
        let store = open(&disk).await.expect("a store");
        assert_eq!(all(&store).await.len(), 0);
        assert_eq!(disk.log_bytes(), None);
        insert(&store, vec![doc! { "_id": 0 }])
            .await
            .expect("an insert");
        let before = disk.syncs();
        for id in 1..=10 {
            insert(&store, vec![doc! { "_id": id }])
                .await
                .expect("an insert");
        }
        assert_eq!(disk.syncs() - before, 10);
        store.close().await.expect("a close");
        assert_eq!(disk.log_bytes(), None);
        let store = open(&disk.after_power_loss()).await.expect("a store");
        assert_eq!(all(&store).await.len(), 11);
    });
}

#[test]
fn a_changed_field_of_a_long_document_takes_few_bytes_of_the_log_and_survives_a_crash() {
    block_on(async {
        let disk = Disk::default();
        let store = Embedded::builder()
            .backend(disk.clone())
            .await
            .expect("a store");
        let text = format!("begin {}", "text ".repeat(2_000));
        let document =
            |id: i32, n: &str| doc! { "_id": id, "text": &text, "in": { "n": n }, "more": &text };
        let documents = (0..10).map(|id| document(id, "0")).collect();
        insert(&store, documents).await.expect("an insert");
        store.check().await.expect("a checkpoint");
        for round in ["one", "the second", "3"] {
            for id in 0..10 {
                let change = doc! { "$set": { "in.n": round } };
                run(&store, vec![Write::Update(doc! { "_id": id }, change)])
                    .await
                    .expect("an update");
            }
        }
        let log = disk.log_bytes().expect("a log");
        let logged = |text: &[u8]| {
            log.windows(text.len())
                .filter(|bytes| *bytes == text)
                .count()
        };
        assert_eq!(
            (logged(b"begin"), logged(b"the second")),
            (0, 10),
            "the changes are there, and not the long texts"
        );
        for crashed in [disk.after_exit(), disk.after_power_loss()] {
            let store = open(&crashed).await.expect("a store");
            let expected: Vec<_> = (0..10).map(|id| document(id, "3")).collect();
            assert_eq!(all(&store).await, expected);
        }
    });
}

#[test]
fn the_log_never_exceeds_its_length() {
    block_on(async {
        let disk = Disk::default();
        let store = open(&disk).await.expect("a store");
        let mut cuts = 0;
        let mut heads = Vec::new();
        for id in 0..300 {
            let text = "x".repeat(id as usize * 100);
            insert(&store, vec![doc! { "_id": id, "text": text }])
                .await
                .expect("an insert");
            let log = disk.log_bytes().expect("a log");
            assert!(log.len() <= 64 << 10, "{} bytes", log.len());
            cuts += usize::from(heads != log[..8192]);
            heads = log[..8192].to_vec();
        }
        assert!(cuts > 20, "{cuts} cuts");
        let store = open(&disk.after_power_loss()).await.expect("a store");
        assert_eq!(all(&store).await.len(), 300);
        store.check_integrity().await.expect("sound indexes");
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_reads_what_is_durable_and_its_commit_waits_for_its_own_sync() {
    let (disk, store) = logged().await;
    let begin = || async {
        store
            .begin(TransactionOptions::default())
            .await
            .expect("a transaction")
    };
    let gate = disk.hold_syncs();
    let first = tokio::spawn({
        let store = store.clone();
        async move { insert(&store, vec![doc! { "_id": "first" }]).await }
    });
    disk.until_sync_waits();
    let mut second = begin().await;
    assert_eq!(
        found(&*second, &find_all()).await.len(),
        3,
        "the first may be lost"
    );
    apply(&mut *second, &Write::Insert(vec![doc! { "_id": "second" }]))
        .await
        .expect("an insert");
    let second = tokio::spawn(second.commit());
    let third = begin().await;
    third.rollback().await.expect("it has read durable data");
    tokio::time::sleep(Duration::from_millis(30)).await;
    assert_eq!(all(&store).await.len(), 3, "readers see none of them");
    assert!(!first.is_finished() && !second.is_finished());
    drop(gate);
    first.await.expect("no panic").expect("an insert");
    let lost = second
        .await
        .expect("no panic")
        .expect_err("it has read all documents");
    assert!(lost.is_retryable(), "{lost}");
    assert_eq!(all(&store).await.len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_that_has_read_from_a_sync_that_fails_fails_with_it() {
    let (disk, store) = logged().await;
    let gate = disk.hold_syncs();
    disk.fail_after(0);
    // Its record is not even written: no other was on its way.
    let refused = insert(&store, vec![doc! { "_id": "refused" }]).await;
    assert_eq!(refused.expect_err("broken").kind(), ErrorKind::Io);
    drop((gate, store));

    let (disk, store) = logged().await;
    let gate = disk.hold_syncs();
    let first = tokio::spawn({
        let store = store.clone();
        async move { insert(&store, vec![doc! { "_id": "first" }]).await }
    });
    disk.until_sync_waits();
    let mut second = store
        .begin(TransactionOptions::default())
        .await
        .expect("a transaction");
    let insert_second = Write::Insert(vec![doc! { "_id": "second" }]);
    apply(&mut *second, &insert_second)
        .await
        .expect("an insert");
    let second = tokio::spawn(second.commit());
    let twice = tokio::spawn({
        let store = store.clone();
        // A duplicate key, but of a document that a crash may lose.
        async move { insert(&store, vec![doc! { "_id": "first" }]).await }
    });
    tokio::time::sleep(Duration::from_millis(30)).await;
    disk.fail_after(0);
    drop(gate);
    for answer in [first, second, twice] {
        let error: Error = answer
            .await
            .expect("no panic")
            .expect_err("the sync has failed");
        let kind = error.kind();
        assert!(matches!(kind, ErrorKind::Io | ErrorKind::Closed), "{error}");
        assert!(error.to_string().contains("the disk is broken"), "{error}");
    }
    assert_eq!(all(&store).await.len(), 3);
    // A sync that fails is not tried again, even if it could succeed.
    disk.heal();
    let error = insert(&store, vec![doc! { "_id": 9 }])
        .await
        .expect_err("no more writes");
    assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
    store.close().await.expect_err("it was lost");
    let store = open(&disk.after_power_loss()).await.expect("a store");
    assert_eq!(all(&store).await.len(), 3);
}

#[test]
fn a_store_is_not_opened_without_its_own_log() {
    block_on(async {
        let (disk, store) = logged().await;
        // A log of the same store, some generations ago.
        let older = disk.log_bytes().expect("a log");
        for id in 10..20 {
            let text = "x".repeat(12 << 10);
            insert(&store, vec![doc! { "_id": id, "text": text }])
                .await
                .expect("an insert");
        }
        let (other, _other) = logged().await;
        let own = disk.log_bytes().expect("a log");
        let mut damaged = own.clone();
        damaged[..8192].fill(7);
        for (log, says) in [
            (None, "is missing"),
            (Some(older), "of another time"),
            (other.log_bytes(), "of another store"),
            (Some(b"Dear diary".to_vec()), "is not the log"),
            (Some(Vec::new()), "is not the log"),
            (Some(damaged), "is not the log"),
        ] {
            let error = open(&disk.with_log(log)).await.expect_err("not its log");
            assert_eq!(error.kind(), ErrorKind::Corrupt);
            let message = error.to_string();
            assert!(
                message.contains("`test`") && message.contains("`test.log`"),
                "{message}"
            );
            assert!(message.contains(says), "{message}");
        }
        let store = open(&disk.with_log(Some(own))).await.expect("a store");
        assert_eq!(all(&store).await.len(), 13);
    });
}

#[test]
fn a_recovery_applies_and_counts_the_units_since_the_last_checkpoint() {
    block_on(async {
        let (disk, store) = logged().await;
        let disk = disk.after_exit();
        drop(store);
        let engine = Engine::open(disk.file(), "test".into(), 1 << 20).expect("an engine");
        let state = engine.newest().expect("a state");
        let named = state.get(META, RECORD).expect("a read");
        let (_, recovered) =
            Log::open(Box::new(disk.clone()), 64 << 10, "test", named.as_deref()).expect("its log");
        // The first of the three was committed at the checkpoint before the first record.
        assert_eq!(recovered.units, 2);
        assert!(recovered.lost.is_none());
        drop((named, state, engine));
        let store = open(&disk).await.expect("a store");
        assert_eq!(all(&store).await.len(), 3);
    });
}

#[test]
fn a_recovered_store_has_its_numbers_and_takes_writes_while_its_checkpoint_waits_for_the_disk() {
    block_on(async {
        let (disk, store) = logged().await;
        store.check().await.expect("a checkpoint");
        insert(&store, vec![doc! { "_id": 3 }, doc! { "_id": 4 }])
            .await
            .expect("an insert");
        run(&store, vec![Write::Delete(doc! { "_id": 0 })])
            .await
            .expect("a delete");
        let mut disk = disk.after_exit();
        // Each crash leaves the log of a store that had been recovered.
        for id in 5..20 {
            let store = open(&disk).await.expect("a store");
            // Before the checkpoint has ended, or after: the numbers are the same.
            let size = store.size().expect("a size");
            assert_eq!(size.collections[0].documents, id as u64 - 1);
            assert_eq!(all(&store).await.len(), id as usize - 1);
            insert(&store, vec![doc! { "_id": id }])
                .await
                .expect("an insert");
            disk = disk.after_partial_loss(id as u64);
            drop(store);
        }
        let store = open(&disk).await.expect("a store");
        assert_eq!(all(&store).await.len(), 19);
        store.check().await.expect("a sound store");
    });
}

#[test]
fn a_store_that_crashed_beside_a_checkpoint_has_the_units_of_both_generations() {
    block_on(async {
        let document = |id: i32| doc! { "_id": id, "text": "x".repeat(1_000) };
        let change = |id: i32| doc! { "$set": { "changed": id } };
        let disk = Disk::default();
        let store = Embedded::builder()
            .log_size(64 << 10)
            .flush_interval(Duration::MAX);
        let store = store.backend(disk.clone()).await.expect("a store");
        let first = insert(&store, vec![document(0)]).await;
        first.expect("a store with a log");
        // A checkpoint is still running when the unit that began it returns: no unit waits for a sync.
        disk.slow_syncs(Duration::from_millis(20));
        let mut documents = vec![document(0)];
        let (mut gate, mut beside) = (None, 0);
        // Each unit changes the document of the one before, so that the second generation has differences from values of the first.
        let mut crashed = loop {
            let id = documents.len() as i32;
            assert!(id < 2_000, "no checkpoint is seen");
            let mut writes = vec![Write::Insert(vec![document(id)])];
            if let Some(before) = documents.last_mut() {
                writes.push(Write::Update(doc! { "_id": id - 1 }, change(id)));
                Document::insert(before, "changed", id);
            }
            documents.push(document(id));
            let unit = Arc::new(Writes(writes));
            let written = store.run(unit, Durability::Eventual).await;
            written.expect("a unit");
            if gate.is_none() && has_begun_another(&disk) {
                (gate, beside) = (Some(disk.hold_syncs()), 0);
            }
            beside += 1;
            if gate.is_some() && beside > 5 {
                let crashed = disk.after_exit();
                if has_begun_another(&crashed) {
                    break crashed;
                }
                // The checkpoint had nearly ended.
                gate = None;
            }
        };
        drop(gate);
        disk.slow_syncs(Duration::ZERO);
        for at in 0..3 {
            let store = open(&crashed).await.expect("a store");
            let size = store.size().expect("a size");
            assert_eq!(size.collections[0].documents, documents.len() as u64);
            assert_eq!(all(&store).await, documents);
            let id = documents.len() as i32;
            documents.push(document(id));
            let inserted = insert(&store, vec![document(id)]).await;
            inserted.expect("an insert");
            crashed = crashed.after_partial_loss(at);
            drop(store);
        }
        let store = open(&crashed).await.expect("a store");
        assert_eq!(all(&store).await, documents);
        store.check().await.expect("a sound store");
    });
}

#[test]
fn a_store_that_was_closed_takes_no_log_of_another() {
    block_on(async {
        let (disk, store) = logged().await;
        let log = disk.log_bytes();
        store.close().await.expect("a close");
        for log in [log, Some(b"Dear diary".to_vec()), Some(Vec::new())] {
            let disk = disk.with_log(log.clone());
            let error = open(&disk).await.expect_err("a strange log");
            assert_eq!(error.kind(), ErrorKind::Corrupt);
            assert!(error.to_string().contains("move that file away"), "{error}");
            assert_eq!(disk.log_bytes(), log, "it is left alone");
        }
    });
}

#[test]
fn a_log_is_not_removed_because_its_store_is_another_or_gone() {
    block_on(async {
        // A store that was closed, and is opened again later; then its first file replaces the last one.
        let disk = Disk::formatted().await;
        let write = async |disk: &Disk, id: i32| {
            let store = open(disk).await.expect("a store");
            for id in [id, id + 1] {
                insert(&store, vec![doc! { "_id": id }])
                    .await
                    .expect("an insert");
            }
            store
        };
        write(&disk, 0).await.close().await.expect("a close");
        let backup = disk.after_exit();
        let crashed = write(&disk, 2).await;
        let log = disk.log_bytes();
        let mixed = backup.with_log(log.clone());
        let error = open(&mixed).await.expect_err("another log");
        assert!(error.to_string().contains("move that file away"), "{error}");
        assert_eq!(mixed.log_bytes(), log);
        drop(crashed);

        let folder = tempfile::tempdir().expect("a folder");
        let (copy, log) = killed(folder.path()).await;
        let away = folder.path().join("away");
        fs::rename(&copy, &away).expect("a rename");
        let bytes = fs::read(&log).expect("a log");
        let error = Embedded::open(&copy).await.expect_err("the log of another");
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains("its log is there"), "{error}");
        assert!(!copy.exists() && fs::read(&log).expect("a log") == bytes);
        fs::rename(&away, &copy).expect("a rename");
        let store = Embedded::open(&copy).await.expect("a store");
        assert_eq!(all(&store).await.len(), 2);
    });
}

/// A task that is dropped when it is woken, on any thread.
struct Dropped(Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>);

impl Wake for Dropped {
    fn wake(self: Arc<Self>) {
        let task = self.0.lock().expect("no panic").take();
        drop(task);
    }
}

#[test]
fn a_waker_that_drops_the_last_handle_blocks_no_thread_of_the_store() {
    let (disk, store) = block_on(logged());
    let gate = disk.hold_syncs();
    let task = Arc::new(Dropped(Mutex::default()));
    let waker = Waker::from(task.clone());
    let future = async move { drop(insert(&store, vec![doc! { "_id": "last" }]).await) };
    let mut future: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(future);
    let mut poll = || future.as_mut().poll(&mut Context::from_waker(&waker));
    assert!(poll().is_pending());
    disk.until_sync_waits();
    // A thread that has written for long lets others run before it waits for the answer.
    assert!(poll().is_pending());
    *task.0.lock().expect("no panic") = Some(future);
    drop(gate);
    // The store's own threads close it and remove its log.
    let deadline = Instant::now() + Duration::from_secs(20);
    while disk.log_bytes().is_some() {
        assert!(Instant::now() < deadline, "the threads wait for each other");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Polls a future once.
async fn is_pending(future: &mut (impl Future + Unpin)) -> bool {
    poll_fn(|context| Poll::Ready(Pin::new(&mut *future).poll(context).is_pending())).await
}

/// Opens a store and copies both of its files while it is open, as a killed process would leave them.
async fn killed(folder: &Path) -> (PathBuf, PathBuf) {
    let path = folder.join("shop.odm");
    let store = Embedded::open(&path).await.expect("a store");
    insert(&store, vec![doc! { "_id": 1 }])
        .await
        .expect("an insert");
    insert(&store, vec![doc! { "_id": 2 }])
        .await
        .expect("an insert");
    let copies = (folder.join("copy.odm"), folder.join("copy.odm.log"));
    fs::copy(&path, &copies.0).expect("a copy");
    fs::copy(folder.join("shop.odm.log"), &copies.1).expect("a log");
    copies
}

#[test]
fn the_log_is_a_private_file_beside_the_store() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let (copy, log) = killed(folder.path()).await;
        let hidden = folder.path().join("hidden");
        fs::rename(&log, &hidden).expect("a rename");
        let error = Embedded::open(&copy).await.expect_err("no log");
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        let names = ["copy.odm`", "copy.odm.log`"];
        assert!(
            names.iter().all(|name| error.to_string().contains(name)),
            "{error}"
        );
        fs::rename(&hidden, &log).expect("a rename");
        let path = folder.path().join("shop.odm");
        #[cfg(unix)]
        {
            use std::os::unix::fs::{PermissionsExt, symlink};
            let store = Embedded::open(&path).await.expect("a store");
            insert(&store, vec![doc! { "_id": 3 }])
                .await
                .expect("an insert");
            let mode = fs::metadata(path.with_extension("odm.log"))
                .expect("a log")
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600);
            drop(store);
            // By any path.
            symlink(&copy, folder.path().join("link")).expect("a link");
            let store = Embedded::open(folder.path().join("link"))
                .await
                .expect("a store");
            assert_eq!(all(&store).await.len(), 2);
        }
        let store = Embedded::open(&path).await.expect("a store");
        assert!(all(&store).await.len() >= 2);
    });
}

#[test]
fn eventual_writes_wait_for_no_sync_but_for_those_of_earlier_writes() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let (disk, store) = logged().await;
        let eventual = |id: &str| {
            let unit = Arc::new(Writes(vec![Write::Insert(vec![doc! { "_id": id }])]));
            let store = store.clone();
            tokio::spawn(async move { store.run(unit, Durability::Eventual).await })
        };
        let gate = disk.hold_syncs();
        let first = eventual("first").await;
        first.expect("no panic").expect("an insert");
        // The sync of the first write, for which no caller waits.
        disk.until_sync_waits();
        let second = eventual("second").await;
        second.expect("no panic").expect("an insert");
        assert_eq!(all(&store).await.len(), 5);
        let mut durable = Box::pin(insert(&store, vec![doc! { "_id": "durable" }]));
        assert!(is_pending(&mut durable).await);
        let after = eventual("after");
        tokio::time::sleep(Duration::from_millis(30)).await;
        assert!(!after.is_finished() && is_pending(&mut durable).await);
        assert_eq!(all(&store).await.len(), 5);
        drop(gate);
        after.await.expect("no panic").expect("an insert");
        durable.await.expect("an insert");
        assert_eq!(all(&store).await.len(), 7);
    });
}
