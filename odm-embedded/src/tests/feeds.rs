//! The changes of a commit are published with it, once, and uncommitted changes never.

use std::{
    future::Future,
    pin::pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    task::{Context, Poll, Wake, Waker},
    thread,
    time::Duration,
};

use async_trait::async_trait;
use bson::{Document, doc};
use futures_util::future::poll_immediate;
use odm_store::{
    Cause, DocumentChange, Durability, Error, ErrorKind, FeedReader, Result, Store, Transaction,
    UnitOfWork,
};

use super::support::*;
use crate::Embedded;
use crate::disk::Disk;

/// A unit that inserts documents and records each, and may fail at its end.
struct Recorded {
    documents: Vec<Document>,
    fails: bool,
}

#[async_trait]
impl UnitOfWork for Recorded {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        for document in self.documents.iter().cloned().map(raw) {
            insert_all(transaction, "things", std::slice::from_ref(&document)).await?;
            let changes = transaction.changes().expect("the store has a feed");
            let change = DocumentChange::new(None, Some(Arc::new(document)), Cause::Write);
            changes.add("things", change, false);
        }
        match self.fails {
            true => Err(Error::new(ErrorKind::Invalid, "as it was told")),
            false => Ok(()),
        }
    }
}

fn thing(id: i32) -> Document {
    doc! { "_id": id, "text": "x".repeat(500) }
}

async fn insert(store: &Embedded, ids: std::ops::Range<i32>, fails: bool) -> Result<()> {
    let documents = ids.map(thing).collect();
    let unit = Arc::new(Recorded { documents, fails });
    store.run(unit, Durability::Immediate).await
}

async fn insert_eventually(store: &Embedded, id: i32) -> Result<()> {
    let documents = vec![thing(id)];
    let unit = Arc::new(Recorded {
        documents,
        fails: false,
    });
    store.run(unit, Durability::Eventual).await
}

/// The `_id`s that each published commit has inserted.
struct Published(FeedReader);

impl Published {
    fn of(store: &Embedded) -> Self {
        Published(watch(store))
    }

    fn take(&mut self) -> Vec<Vec<i32>> {
        let mut commits = Vec::new();
        while let Poll::Ready(Some(commit)) = self.0.poll() {
            let (_, _, commit) = commit.expect("no commit is missed");
            let ids = commit.iter().map(|change| {
                let after = change.after.as_ref().expect("an insert");
                after.get_i32("_id").expect("an `_id`")
            });
            commits.push(ids.collect());
        }
        commits
    }
}

fn watch(store: &Embedded) -> FeedReader {
    let mut reader = store.handle.published.feed.reader("things", 16);
    reader.begin(None).expect("an open store");
    reader
}

#[test]
fn a_unit_that_runs_again_alone_publishes_its_changes_once() {
    block_on(async {
        let store = Embedded::builder().large_units(16 << 10, 4 << 10);
        let store = store.backend(Disk::default()).await.expect("a store");
        let mut published = Published::of(&store);
        insert(&store, 0..2, false).await.expect("a small unit");
        insert(&store, 2..102, true)
            .await
            .expect_err("a large unit that fails");
        insert(&store, 2..102, false).await.expect("a large unit");
        insert(&store, 200..202, true)
            .await
            .expect_err("a small unit that fails");
        insert(&store, 102..103, false).await.expect("a small unit");
        let expected = [vec![0, 1], (2..102).collect(), vec![102]];
        assert_eq!(published.take(), expected);
    });
}

#[test]
fn what_a_failing_disk_does_not_take_is_not_published() {
    let mut reached_the_end = false;
    for at in 0.. {
        let disk = Disk::default();
        let (acknowledged, published) = block_on(async {
            let store = Embedded::builder().backend(disk.clone()).await;
            let store = store.expect("a store");
            let mut published = Published::of(&store);
            disk.fail_after(at);
            let mut acknowledged = Vec::new();
            for n in 0..6 {
                if insert(&store, n..n + 1, false).await.is_ok() {
                    acknowledged.push(vec![n]);
                }
            }
            (acknowledged, published.take())
        });
        assert_eq!(published, acknowledged, "failed at operation {at}");
        if acknowledged.len() == 6 {
            reached_the_end = true;
            break;
        }
    }
    assert!(reached_the_end);
}

#[test]
fn a_watch_goes_on_when_the_store_is_compacted() {
    block_on(async {
        let store = Embedded::builder().backend(Disk::default()).await;
        let store = store.expect("a store");
        let mut published = Published::of(&store);
        insert(&store, 0..2, false).await.expect("a commit");
        store.compact().await.expect("a compaction");
        insert(&store, 2..3, false).await.expect("a commit");
        assert_eq!(published.take(), [vec![0, 1], vec![2]]);
    });
}

/// Holds up the thread that wakes it, for half a second at most.
struct Held {
    has_begun: AtomicBool,
    ends: Mutex<mpsc::Receiver<()>>,
}

impl Wake for Held {
    fn wake(self: Arc<Self>) {
        self.has_begun.store(true, Ordering::SeqCst);
        let ends = self.ends.lock().expect("no panic");
        let _ = ends.recv_timeout(Duration::from_millis(500));
    }
}

/// While one thread publishes commits, the writer itself does not.
#[test]
fn changes_are_published_in_the_order_of_commits_whoever_is_held_up() {
    block_on(async {
        let disk = Disk::default();
        let store = Embedded::builder().backend(disk.clone()).await;
        let store = store.expect("a store");
        // The first commit makes the log.
        insert(&store, 100..101, false).await.expect("a commit");
        let mut published = Published::of(&store);
        let (end, ends) = mpsc::channel();
        let held = Arc::new(Held {
            has_begun: AtomicBool::new(false),
            ends: Mutex::new(ends),
        });
        let waker = Waker::from(held.clone());

        // A commit whose sync is held up, and a later one that waits for no sync.
        let gate = disk.hold_syncs();
        let mut first = pin!(insert(&store, 0..1, false));
        assert!(poll_immediate(first.as_mut()).await.is_none());
        disk.until_sync_waits();
        // A thread that has written for long lets others run before it waits for the answer.
        let mut cx = Context::from_waker(&waker);
        assert!(first.as_mut().poll(&mut cx).is_pending());
        let before = disk.operations();
        let mut second = pin!(insert_eventually(&store, 1));
        assert!(poll_immediate(second.as_mut()).await.is_none());
        while disk.operations() == before {
            thread::yield_now();
        }
        thread::sleep(Duration::from_millis(20));
        // The publishing thread is held up after the first of both.
        drop(gate);
        while !held.has_begun.load(Ordering::SeqCst) {
            thread::yield_now();
        }
        insert_eventually(&store, 2).await.expect("a commit");
        let _ = end.send(());
        first.await.expect("a commit");
        second.await.expect("a commit");
        assert_eq!(published.take(), [vec![0], vec![1], vec![2]]);
    });
}

/// Reads all documents as soon as it is woken, on the thread that wakes it.
struct Reads {
    store: Embedded,
    found: Mutex<Vec<usize>>,
}

impl Wake for Reads {
    fn wake(self: Arc<Self>) {
        let found = block_on(all(&self.store)).len();
        self.found.lock().expect("no panic").push(found);
    }
}

#[test]
fn who_is_told_of_a_change_can_read_it() {
    block_on(async {
        let store = Embedded::builder().backend(Disk::default()).await;
        let store = store.expect("a store");
        insert(&store, 0..1, false).await.expect("a commit");
        let mut changes = watch(&store);
        let reads = Arc::new(Reads {
            store: store.clone(),
            found: Mutex::default(),
        });
        let waker = Waker::from(reads.clone());
        let mut next = pin!(changes.next());
        let mut cx = Context::from_waker(&waker);
        assert!(next.as_mut().poll(&mut cx).is_pending());
        insert(&store, 1..3, false).await.expect("a commit");
        assert_eq!(*reads.found.lock().expect("no panic"), [3]);
    });
}
