//! The changes of a commit are published with it, once, and those of what is not committed never.

use std::sync::Arc;

use async_trait::async_trait;
use bson::{Document, doc};
use tokio::sync::broadcast::error::TryRecvError;

use super::{disk::Disk, support::*};
use crate::{
    error::{Error, ErrorKind, Result},
    store::{
        Cause, DocumentChange, Durability, Store, Transaction, UnitOfWork, embedded::Embedded,
    },
};

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
            let change = DocumentChange {
                before: None,
                after: Some(Arc::new(document)),
                cause: Cause::Write,
            };
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

/// The `_id`s that each commit which was published has inserted.
struct Published(tokio::sync::broadcast::Receiver<crate::store::WatchedCommit>);

impl Published {
    fn take(&mut self) -> Vec<Vec<i32>> {
        let mut commits = Vec::new();
        loop {
            match self.0.try_recv() {
                Ok(commit) => {
                    let ids = commit.iter().map(|change| {
                        let after = change.after.as_ref().expect("an insert");
                        after.get_i32("_id").expect("an `_id`")
                    });
                    commits.push(ids.collect());
                }
                Err(TryRecvError::Empty | TryRecvError::Closed) => return commits,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn a_unit_that_runs_again_alone_publishes_its_changes_once() {
    block_on(async {
        let store = Embedded::builder().large_units(16 << 10, 4 << 10);
        let store = store.backend(Disk::default()).await.expect("a store");
        let watch = store.handle.published.feed.watch("things");
        let mut published = Published(watch.begin(16).expect("an open store"));
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
            let watch = store.handle.published.feed.watch("things");
            let mut published = Published(watch.begin(16).expect("an open store"));
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
        let watch = store.handle.published.feed.watch("things");
        let mut published = Published(watch.begin(16).expect("an open store"));
        insert(&store, 0..2, false).await.expect("a commit");
        store.compact().await.expect("a compaction");
        insert(&store, 2..3, false).await.expect("a commit");
        assert_eq!(published.take(), [vec![0, 1], vec![2]]);
    });
}
