//! A check of an open store finds changes in its file, and changes nothing itself.

use std::{
    pin::pin,
    sync::{Arc, Mutex, mpsc},
    thread,
};

use async_trait::async_trait;
use bson::{Document, doc};
use futures_util::future::poll_immediate;
use odm_store::{Durability, ErrorKind, Result, Store, Transaction, UnitOfWork};

use super::support::*;
use crate::disk::Disk;
use crate::{
    Embedded,
    engine::Engine,
    layout::{END, Tree},
    open::stored_schema,
};

fn thing(id: i32) -> Document {
    doc! { "_id": id, "n": id % 5, "text": format!("{id} {}", "x".repeat(200)) }
}

async fn fill(store: &Embedded) {
    let indexes = vec![index("by_n", &[("n", 1)])];
    let made = store.ensure(&[collection("things", indexes)]).await;
    made.expect("a collection");
    insert(store, (0..200).map(thing).collect())
        .await
        .expect("documents");
}

#[cfg(unix)]
#[test]
fn a_check_of_an_open_store_finds_a_flipped_bit_that_reads_do_not_see() {
    use std::os::unix::fs::FileExt;

    block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.odm");
        let store = Embedded::open(&path).await.expect("a store");
        fill(&store).await;
        store.check().await.expect("a sound store");
        let bytes = std::fs::read(&path).expect("a file");
        let text = format!("100 {}", "x".repeat(200));
        let places: Vec<usize> = (0..bytes.len() - text.len())
            .filter(|&at| bytes[at..].starts_with(text.as_bytes()))
            .collect();
        assert!(!places.is_empty());
        let file = std::fs::File::options().write(true).open(&path);
        let file = file.expect("a file");
        for &at in &places {
            let byte = at + 50;
            file.write_all_at(&[bytes[byte] ^ 4], byte as u64)
                .expect("a byte");
        }
        let error = store.check().await.expect_err("damaged");
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error:?}");
        assert!(error.to_string().contains("shop.odm"), "{error}");
        assert!(error.to_string().contains("checksums"), "{error}");
        for &at in &places {
            let byte = at + 50;
            file.write_all_at(&[bytes[byte]], byte as u64)
                .expect("a byte");
        }
        store.check().await.expect("a sound store again");
        // The store is open as before.
        insert(&store, vec![thing(500)]).await.expect("a document");
        store.close().await.expect("a close");
        let error = store.check().await.expect_err("closed");
        assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
        let store = Embedded::builder().check(true).open(&path).await;
        let store = store.expect("a sound store");
        assert_eq!(all(&store).await.len(), 201);
    });
}

#[test]
fn a_check_finds_a_flipped_bit_in_any_page_that_is_used_and_writes_nothing() {
    let disk = Disk::default();
    let engine = Engine::open(disk.file(), "test".into(), 1 << 20);
    let mut engine = engine.expect("an engine");
    let entries: Vec<_> = (0..300_u32)
        .map(|n| (n.to_be_bytes(), vec![n as u8; 300]))
        .collect();
    let changes = entries.iter();
    let changes = changes.map(|(key, value)| (7, key.as_slice(), Some(value.as_slice())));
    engine.commit(changes, true).expect("a commit");
    engine.check_file().expect("a sound file");
    let whole = disk.bytes();
    // One byte in the middle of each value.
    for n in (0..300_u32).step_by(20) {
        let value = vec![n as u8; 300];
        let places = (0..whole.len() - 300).filter(|&at| whole[at..at + 300] == value);
        let places: Vec<usize> = places.collect();
        let flip = || places.iter().for_each(|at| disk.flip(at + 150));
        flip();
        let error = engine.check_file().expect_err("damaged");
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{n}: {error:?}");
        flip();
    }
    // Any byte: a change of unused bytes may stay undetected.
    for at in (0..whole.len()).step_by(whole.len() / 50) {
        disk.flip(at);
        if let Err(error) = engine.check_file() {
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{at}: {error:?}");
        }
        disk.flip(at);
    }
    engine.check_file().expect("a sound file");
    assert!(whole == disk.bytes(), "a check has changed the file");
}

#[test]
fn a_check_has_all_that_was_written_before_and_writes_go_on_after_it() {
    block_on(async {
        let memory = Embedded::memory().await.expect("a store");
        let disk = Disk::default();
        let on_disk = Embedded::builder().backend(disk.clone()).await;
        for store in [memory, on_disk.expect("a store")] {
            store.check().await.expect("an empty store");
            fill(&store).await;
            let reader = store.reader().expect("an open store");
            for id in 1000..1010 {
                store.check().await.expect("a sound store");
                insert(&store, vec![thing(id)]).await.expect("a document");
            }
            // A state that is read meanwhile stays as it was.
            assert_eq!(found(&*reader, &find_all()).await.len(), 200);
            assert_eq!(all(&store).await.len(), 210);
        }
        // The check leaves nothing that prevents the recovery from a crash.
        let store = Embedded::builder().backend(disk.after_power_loss()).await;
        let store = store.expect("a store");
        store.check().await.expect("a sound store");
        assert_eq!(all(&store).await.len(), 210);
    });
}

#[test]
fn a_check_on_a_disk_that_fails_is_an_error_and_loses_nothing() {
    for at in 0..40 {
        let disk = Disk::default();
        let passed = block_on(async {
            let store = Embedded::builder().backend(disk.clone()).await;
            let store = store.expect("a store");
            fill(&store).await;
            disk.fail_after(at);
            store.check().await.is_ok()
        });
        disk.heal();
        block_on(async {
            let store = Embedded::builder().backend(disk.after_power_loss()).await;
            let store = store.expect("a store");
            store.check().await.expect("a sound store");
            assert_eq!(all(&store).await.len(), 200, "failed at operation {at}");
        });
        if passed {
            assert!(at > 0, "the check begins with no checkpoint");
            return;
        }
    }
    panic!("the check never passed");
}

/// A unit that holds the writer.
struct Holding {
    has_begun: mpsc::Sender<()>,
    is_over: Mutex<mpsc::Receiver<()>>,
}

#[async_trait]
impl UnitOfWork for Holding {
    async fn run(&self, _: &mut dyn Transaction) -> Result<()> {
        self.has_begun.send(()).expect("a test that waits");
        let is_over = self.is_over.lock().expect("no panic");
        is_over.recv().expect("a test that goes on");
        Ok(())
    }
}

#[test]
fn a_check_that_is_dropped_before_its_turn_does_nothing() {
    block_on(async {
        let disk = Disk::default();
        let store = Embedded::builder().backend(disk.clone()).await;
        let store = store.expect("a store");
        fill(&store).await;
        let before = disk.operations();
        let (has_begun, begun) = mpsc::channel();
        let (end, is_over) = mpsc::channel();
        let unit = Arc::new(Holding {
            has_begun,
            is_over: Mutex::new(is_over),
        });
        let holder = thread::spawn({
            let store = store.clone();
            move || block_on(store.run(unit, Durability::Immediate))
        });
        begun.recv().expect("a unit that has the writer");
        {
            let mut check = pin!(store.check());
            assert!(poll_immediate(&mut check).await.is_none());
        }
        end.send(()).expect("a unit that waits");
        holder.join().expect("no panic").expect("a unit");
        insert(&store, vec![thing(-1)]).await.expect("an insert");
        // The record of the insert, its sync and its mark, and no checkpoint.
        assert_eq!(disk.operations() - before, 3);
    });
}

/// A change of an entry, chosen from the entries of some trees.
type Change = dyn Fn([&[(Vec<u8>, Vec<u8>)]; 3], [Tree; 3]) -> (Tree, Vec<u8>, Option<Vec<u8>>);

/// Entries written past the store: with right checksums, but with wrong content.
#[test]
fn a_check_finds_documents_and_indexes_that_contradict_each_other() {
    block_on(async {
        let disk = Disk::formatted().await;
        {
            let store = Embedded::builder().backend(disk.clone()).await;
            let store = store.expect("a store");
            let indexes = vec![index("by_n", &[("n", 1)]), unique("by_u", &[("u", 1)])];
            let made = store.ensure(&[collection("things", indexes)]).await;
            made.expect("a collection");
            let documents = (0..20).map(|id| doc! { "_id": id, "n": id, "u": id });
            let inserted = insert(&store, documents.collect()).await;
            inserted.expect("documents");
            store.close().await.expect("a close");
        }
        let found_after = async |change: &Change| {
            let disk = disk.after_exit();
            let engine = Engine::open(disk.file(), "test".into(), 1 << 20);
            let mut engine = engine.expect("an engine");
            let (tree, key, value) = {
                let state = engine.newest().expect("a state");
                let schema = stored_schema(&state).expect("a schema");
                let things = schema.collection("things").expect("a collection");
                let trees = [things.tree, things.indexes[0].tree, things.indexes[1].tree];
                let entries = trees.map(|tree| {
                    let mut range = state.range(tree, &[], &END, false).expect("a range");
                    let mut entries = Vec::new();
                    let read = range.read(&mut entries, usize::MAX);
                    read.expect("all entries");
                    let entries = entries.iter();
                    let entries = entries.map(|(key, value)| (key.to_vec(), value.to_vec()));
                    entries.collect::<Vec<_>>()
                });
                change([&entries[0], &entries[1], &entries[2]], trees)
            };
            let change = [(tree, &*key, value.as_deref())];
            engine.commit(change.into_iter(), true).expect("a commit");
            engine.close().expect("a close");
            let store = Embedded::builder().backend(disk).await;
            let store = store.expect("a store");
            let checked = store.check().await;
            assert_eq!(
                checked.as_ref().err().map(ToString::to_string),
                store
                    .check_integrity()
                    .await
                    .err()
                    .map(|error| error.to_string())
            );
            let error = checked.expect_err("it contradicts itself");
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
            error.to_string()
        };
        let changes: [(&Change, &str); 7] = [
            (
                &|[_, by_n, _], [_, tree, _]| (tree, by_n[3].0.clone(), None),
                "index `by_n` of `things` lacks an entry of a document",
            ),
            (
                &|[_, by_n, _], [_, tree, _]| {
                    let more = [&*by_n[19].0, &[1]].concat();
                    (tree, more, Some(by_n[19].1.clone()))
                },
                "index `by_n` of `things` has 21 entries, and the documents have 20",
            ),
            (
                &|[_, _, by_u], [_, _, tree]| (tree, by_u[3].0.clone(), Some(by_u[4].1.clone())),
                "index `by_u` of `things` refers to another document",
            ),
            (
                &|[things, ..], [tree, ..]| (tree, things[3].0.clone(), Some(things[4].1.clone())),
                "a document of `things` has the key of another `_id`",
            ),
            (
                &|[things, ..], [tree, ..]| {
                    let list = raw(doc! { "_id": 3, "n": [3], "u": 3 });
                    (tree, things[3].0.clone(), Some(list.into_bytes()))
                },
                "has an array at a path that is not marked multikey",
            ),
            (
                &|[things, ..], [tree, ..]| (tree, things[3].0.clone(), Some(vec![7; 9])),
                "damaged",
            ),
            (
                &|_, _| (900, vec![1], Some(vec![1])),
                "data that belongs to no collection is stored",
            ),
        ];
        for (change, says) in changes {
            let found = found_after(change).await;
            assert!(found.contains(says), "{found}, not {says}");
        }
    });
}
