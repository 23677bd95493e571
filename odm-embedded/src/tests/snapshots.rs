//! Snapshots that live long hold pages of the file, and bounded memory.

use std::sync::Arc;

use bson::doc;
use odm_store::{Reader, Store};
use tokio::sync::oneshot;

use super::support::*;
use crate::{Embedded, disk::Disk, queue::Request};

const HELD: usize = 256 << 10;

/// More changes than may be held, in many checkpoints.
const CHECKPOINTS: i32 = 12;

/// About 64 KiB of changes for each checkpoint.
const DOCUMENTS: i32 = 16;

async fn open(disk: &Disk) -> Embedded {
    let builder = Embedded::builder().held_memtables(HELD);
    let store = builder.backend(disk.clone()).await.expect("a store");
    let collections = [collection("things", vec![index("by_n", &[("n", 1)])])];
    store.ensure(&collections).await.expect("the collection");
    store
}

async fn checkpoint(store: &Embedded) {
    let (reply, answer) = oneshot::channel();
    let request = Request::Snapshot { reply };
    let asked = store.handle.ask(request, answer).await;
    drop(asked.expect("a checkpoint"));
}

fn held(store: &Embedded) -> usize {
    let newest = store.handle.published.get().expect("a state");
    store.handle.published.held_memtables(&newest)
}

/// Takes a snapshot before and after each of the commits between checkpoints.
async fn snapshots(store: &Embedded) -> Vec<(i32, Arc<dyn Reader>)> {
    let mut snapshots = Vec::new();
    for n in 0..CHECKPOINTS {
        let document = |i| doc! { "_id": n * DOCUMENTS + i, "n": n, "text": "x".repeat(4_000) };
        let (first, rest) = (document(0), (1..DOCUMENTS).map(document).collect());
        insert(store, vec![first]).await.expect("an insert");
        snapshots.push((n * DOCUMENTS + 1, store.snapshot().await.expect("a state")));
        insert(store, rest).await.expect("an insert");
        snapshots.push((
            (n + 1) * DOCUMENTS,
            store.snapshot().await.expect("a state"),
        ));
        checkpoint(store).await;
    }
    snapshots
}

#[test]
fn snapshots_read_their_states_and_hold_bounded_memory() {
    block_on(async {
        let disk = Disk::formatted().await;
        let store = open(&disk).await;
        let snapshots = snapshots(&store).await;
        let held_at_the_end = held(&store);
        assert!(
            (HELD..HELD + (128 << 10)).contains(&held_at_the_end),
            "{held_at_the_end}"
        );
        for (documents, snapshot) in &snapshots {
            let (count, _) = snapshot.count(&find_all()).await.expect("a count");
            assert_eq!(count, *documents as u64);
            assert_eq!(
                found(&**snapshot, &find_all()).await.len(),
                *documents as usize
            );
        }
        let earlier = store.size().expect("a size").earlier_states;
        assert!(earlier >= snapshots.len() as u64 - 1, "{earlier}");
        drop(snapshots);
        assert_eq!(held(&store), 0);
    });
}

#[test]
fn snapshots_are_taken_after_a_failure_of_the_disk() {
    block_on(async {
        let disk = Disk::formatted().await;
        let store = open(&disk).await;
        let _snapshots = snapshots(&store).await;
        disk.fail_after(0);
        let one_more = insert(&store, vec![doc! { "_id": -1 }]).await;
        one_more.expect_err("the disk has failed");
        let snapshot = store.snapshot().await.expect("a state");
        let (count, _) = snapshot.count(&find_all()).await.expect("a count");
        assert_eq!(count, (CHECKPOINTS * DOCUMENTS) as u64);
        store.close().await.expect_err("the disk has failed");
        let closed = store.snapshot().await.err().expect("the store is closed");
        assert!(
            closed.to_string().contains("the store refuses writes"),
            "{closed}"
        );
    });
}

#[test]
fn writers_go_on_while_snapshots_wait_for_a_checkpoint() {
    block_on(async {
        let disk = Disk::formatted().await;
        let store = open(&disk).await;
        let _snapshots = snapshots(&store).await;
        let document = doc! { "_id": -1, "text": "x".repeat(1 << 20) };
        insert(&store, vec![document]).await.expect("an insert");
        let waiting = tokio::join!(
            store.snapshot(),
            store.snapshot(),
            insert(&store, vec![doc! { "_id": -2 }]),
        );
        let documents = (CHECKPOINTS * DOCUMENTS) as u64;
        waiting.2.expect("an insert");
        for snapshot in [waiting.0, waiting.1] {
            let snapshot = snapshot.expect("a state");
            let (count, _) = snapshot.count(&find_all()).await.expect("a count");
            assert!((documents + 1..=documents + 2).contains(&count), "{count}");
        }
    });
}
