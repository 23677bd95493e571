//! Copies of an open store are complete, or do not exist.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, mpsc},
    time::{Duration, Instant},
};

use bson::doc;
use odm_store::{Durability, ErrorKind, Store};

use super::support::*;
use crate::disk::Disk;
use crate::{Embedded, copy};

/// More than one portion, with entries of two indexes.
const DOCUMENTS: i32 = 3_000;

async fn fill(store: &Embedded) {
    let indexes = vec![index("by_n", &[("n", 1)]), unique("by_u", &[("u", 1)])];
    let collections = [collection("things", indexes), collection("empty", vec![])];
    store.ensure(&collections).await.expect("the collections");
    let documents = (0..DOCUMENTS).map(
        |i| doc! { "_id": i, "n": [i % 5, i % 7], "u": format!("u{i}"), "text": "x".repeat(400) },
    );
    insert(store, documents.collect()).await.expect("an insert");
}

async fn on_each_store(test: impl AsyncFn(&Embedded, &Path)) {
    let folder = tempfile::tempdir().expect("a folder");
    for store in [
        Embedded::open(folder.path().join("shop.odm")).await,
        Embedded::memory().await,
    ] {
        let copies = tempfile::tempdir().expect("a folder");
        test(&store.expect("a store"), copies.path()).await;
    }
}

fn names(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.expect("a file").path()).collect()
}

async fn opened(path: &Path) -> Embedded {
    let opened = Embedded::builder().check(true).open(path).await;
    opened.expect("the copy is a store")
}

#[test]
fn a_copy_is_a_closed_store_with_all_documents_and_indexes() {
    block_on(on_each_store(async |store, folder| {
        fill(store).await;
        let unit = Write::Update(doc! { "_id": 1 }, doc! { "$set": { "n": 77 } });
        store
            .run(Arc::new(Writes(vec![unit])), Durability::Eventual)
            .await
            .expect("an update");
        let path = folder.join("copy.odm");
        store.backup(&path).await.expect("a copy");
        assert_eq!(names(folder), [path.as_path()], "there is another file");
        // Later writes are not in the copy.
        insert(store, vec![doc! { "_id": -1 }])
            .await
            .expect("an insert");
        let copy = opened(&path).await;
        let documents = all(&copy).await;
        assert_eq!(documents.len(), DOCUMENTS as usize);
        assert_eq!(documents[1].get_i32("n").expect("a number"), 77);
        assert_eq!(copy.indexes().unwrap(), store.indexes().unwrap());
        // The copy is an independent store.
        insert(&copy, vec![doc! { "_id": -2 }])
            .await
            .expect("an insert");
        copy.close().await.expect("a close");
        assert_eq!(
            all(&opened(&path).await).await.len(),
            DOCUMENTS as usize + 1
        );
        assert_eq!(all(store).await.len(), DOCUMENTS as usize + 1);
    }));
}

#[test]
fn an_empty_store_and_a_copy_are_copied() {
    block_on(on_each_store(async |store, folder| {
        store.backup(folder.join("1.odm")).await.expect("a copy");
        let first = opened(&folder.join("1.odm")).await;
        assert!(all(&first).await.is_empty());
        fill(&first).await;
        first.backup(folder.join("2.odm")).await.expect("a copy");
        let second = opened(&folder.join("2.odm")).await;
        assert_eq!(all(&second).await, all(&first).await);
    }));
}

#[test]
fn progress_leads_to_all_entries() {
    block_on(on_each_store(async |store, folder| {
        fill(store).await;
        let reports = Arc::new(Mutex::new(Vec::new()));
        let reported = reports.clone();
        store
            .backup(folder.join("copy.odm"))
            .on_progress(move |progress| reported.lock().expect("no panic").push(progress))
            .await
            .expect("a copy");
        let reports = reports.lock().expect("no panic");
        let last = reports.last().expect("a report");
        // For each document: itself, its place by `u`, and one or two by `n`.
        let expected = (0..DOCUMENTS).map(|i| if i % 5 == i % 7 { 3 } else { 4 });
        assert_eq!(last.of, expected.sum::<u64>());
        assert_eq!(last.entries, last.of);
        assert!(last.bytes > 400 * DOCUMENTS as u64, "{last:?}");
        assert!(reports.len() > 3, "{reports:?}");
        assert!(reports.is_sorted_by_key(|progress| progress.entries));
        assert!(reports.iter().all(|progress| progress.of == last.of));
    }));
}

#[test]
fn a_file_that_is_there_stays_and_refuses_the_copy() {
    block_on(on_each_store(async |store, folder| {
        fill(store).await;
        for name in ["copy.odm", "copy.odm.log"] {
            let (path, there) = (folder.join("copy.odm"), folder.join(name));
            fs::write(&there, "mine").expect("a file");
            let error = store.backup(&path).await.expect_err("it is refused");
            assert_eq!(error.kind(), ErrorKind::Io);
            let message = error.to_string();
            assert!(
                message.contains(&format!("{name}` is there already")),
                "{message}"
            );
            assert_eq!(fs::read(&there).expect("a file"), b"mine");
            assert_eq!(names(folder), [there.as_path()]);
            fs::remove_file(there).expect("no file");
        }
        let error = store.backup(folder.join("none/copy.odm")).await;
        assert_eq!(error.expect_err("no folder").kind(), ErrorKind::Io);
        assert!(names(folder).is_empty());
    }));
}

/// A file that appears while the copy is made is not replaced.
#[test]
fn a_file_that_comes_meanwhile_stays() {
    block_on(on_each_store(async |store, folder| {
        fill(store).await;
        let path = folder.join("copy.odm");
        let other = path.clone();
        let error = store
            .backup(&path)
            .on_progress(move |_| fs::write(&other, "mine").expect("a file"))
            .await
            .expect_err("it is refused");
        assert!(error.to_string().contains("is there already"), "{error}");
        assert_eq!(fs::read(&path).expect("a file"), b"mine");
        assert_eq!(names(folder), [path]);
    }));
}

/// Waits until no file is left.
fn until_empty(folder: &Path) {
    let end = Instant::now() + Duration::from_secs(60);
    while !names(folder).is_empty() {
        assert!(Instant::now() < end, "left: {:?}", names(folder));
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_backup_that_is_dropped_leaves_nothing() {
    block_on(on_each_store(async |store, folder| {
        fill(store).await;
        let (begun, begins) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let mut copying = store
            .backup(folder.join("copy.odm"))
            .on_progress(move |_| {
                let _ = begun.send(());
                let _ = released.recv();
            })
            .into_future();
        // Until it copies.
        while begins.try_recv().is_err() {
            let polled =
                std::future::poll_fn(|cx| std::task::Poll::Ready(copying.as_mut().poll(cx)));
            assert!(polled.await.is_pending());
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(names(folder).len(), 1);
        assert!(
            !folder.join("copy.odm").exists(),
            "half a copy has the name of a whole one"
        );
        // Writes go on.
        insert(store, vec![doc! { "_id": -1 }])
            .await
            .expect("an insert");
        drop(copying);
        drop(release);
        until_empty(folder);
        store.backup(folder.join("copy.odm")).await.expect("a copy");
    }));
}

/// The store is larger than its cache.
#[test]
fn a_backup_whose_store_is_closed_fails_and_leaves_nothing() {
    block_on(async {
        let (folder, copies) = (
            tempfile::tempdir().expect("one"),
            tempfile::tempdir().expect("another"),
        );
        let builder = Embedded::builder().cache_size(64 << 10);
        let store = builder
            .open(folder.path().join("shop.odm"))
            .await
            .expect("a store");
        fill(&store).await;
        let path = copies.path().join("copy.odm");
        let closing = store.clone();
        let mut is_first = true;
        let error = store
            .backup(&path)
            .on_progress(move |_| {
                if std::mem::take(&mut is_first) {
                    block_on(closing.close()).expect("a close");
                }
            })
            .await
            .expect_err("the store is closed");
        assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
        assert!(names(copies.path()).is_empty());
        let error = store.backup(&path).await.expect_err("it is closed");
        assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
    });
}

#[test]
fn a_panic_in_the_callers_function_is_an_error_and_leaves_nothing() {
    block_on(on_each_store(async |store, folder| {
        fill(store).await;
        let copying = store.backup(folder.join("copy.odm"));
        let copied = copying.on_progress(|_| panic!("of the caller")).await;
        let error = copied.expect_err("a panic");
        assert!(error.to_string().contains("panicked"), "{error}");
        until_empty(folder);
        insert(store, vec![doc! { "_id": -1 }])
            .await
            .expect("an insert");
    }));
}

/// The disk of the copy fails at each of its changes. A reported copy is complete.
#[test]
fn a_copy_to_a_disk_that_fails_is_an_error_or_whole() {
    block_on(async {
        let store = Embedded::memory().await.expect("a store");
        let indexes = vec![index("by_n", &[("n", 1)])];
        let things = collection("things", indexes);
        store.ensure(&[things]).await.expect("a collection");
        let documents = (0..20).map(|i| doc! { "_id": i, "n": i % 5, "text": "x".repeat(100) });
        insert(&store, documents.collect())
            .await
            .expect("an insert");
        let snapshot = store.handle.published.get().expect("a state");
        let copy = |disk: &Disk| copy::copy(&snapshot, disk.file(), "copy".into(), &mut |_| true);
        let whole = Disk::default();
        copy(&whole).expect("a copy");
        let operations = whole.operations();
        assert!(operations > 10, "{operations}");
        let mut failed = 0;
        for at in 0..=operations {
            let disk = Disk::default();
            disk.fail_after(at);
            let copied = copy(&disk);
            disk.heal();
            match copied {
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Io, "operation {at}: {error}");
                    failed += 1;
                }
                Ok(()) => {
                    // All of it is durable.
                    let opened = Embedded::builder()
                        .check(true)
                        .backend(disk.after_power_loss());
                    let opened = opened.await.expect("the copy is a store");
                    assert_eq!(all(&opened).await.len(), 20, "operation {at}");
                }
            }
        }
        assert!(
            failed >= operations - 1,
            "{failed} of {operations} failures are told"
        );
    });
}

#[test]
fn what_a_copy_has_the_store_has_after_a_crash() {
    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let disk = Disk::formatted().await;
        let builder = Embedded::builder().flush_interval(Duration::from_secs(3_600));
        let store = builder.backend(disk.clone()).await.expect("a store");
        store
            .ensure(&[collection("things", vec![])])
            .await
            .expect("a collection");
        let unit = Writes(vec![Write::Insert(vec![doc! { "_id": 1 }])]);
        store
            .run(Arc::new(unit), Durability::Eventual)
            .await
            .expect("an insert");
        store
            .backup(folder.path().join("copy.odm"))
            .await
            .expect("a copy");
        let left = Embedded::builder().backend(disk.after_power_loss()).await;
        assert_eq!(all(&left.expect("a store")).await.len(), 1);
        assert_eq!(
            all(&opened(&folder.path().join("copy.odm")).await)
                .await
                .len(),
            1
        );
    });
}

#[test]
fn a_reader_copies_the_last_checkpoint_of_the_writer() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("shop.odm");
    block_on(async {
        let store = Embedded::open(&path).await.expect("a store");
        fill(&store).await;
        // It begins with a checkpoint.
        store.check().await.expect("a sound file");
        insert(&store, vec![doc! { "_id": -1, "u": "later" }])
            .await
            .expect("an insert");

        let reader = Embedded::open_read_only(&path).await.expect("a reader");
        let target = folder.path().join("copy.odm");
        reader.backup(&target).await.expect("a backup");
        let copy = opened(&target).await;
        let size = copy.size().expect("a size");
        assert_eq!(size.collections[1].documents, DOCUMENTS as u64);
        let own = reader.backup(&path).await.expect_err("its own place");
        assert_eq!(own.kind(), ErrorKind::Io);
    });
}
