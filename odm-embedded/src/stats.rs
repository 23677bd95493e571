//! The sizes of a collection and its indexes, and how often these were used.

use std::{collections::HashSet, sync::Arc, thread};

use odm_store::{CollectionStats, Error, ErrorKind, IndexStats, IndexUses, Result};
use tokio::sync::oneshot;

use super::{
    layout::{END, Tree},
    schema::Collection,
    snapshot::{Published, Snapshot},
    uses::Uses,
};

/// The name of the order of `_id`, which the documents themselves have.
const ID_INDEX: &str = "_id_";

/// How often the indexes of a collection were used.
pub(super) fn uses(published: &Published, name: &str) -> Result<Option<Vec<IndexUses>>> {
    let snapshot = published.get()?;
    let Some(collection) = snapshot.schema.collection(name) else {
        return Ok(None);
    };
    let of = |name: &str, uses: &Uses| IndexUses {
        name: name.to_owned(),
        count: uses.count(),
        since: uses.since(),
    };
    let indexes = collection.declared();
    let mut all: Vec<IndexUses> = indexes
        .map(|index| of(&index.spec.name, &index.uses))
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all.insert(0, of(ID_INDEX, &collection.uses));
    Ok(Some(all))
}

/// Measures a collection on a thread of its own: it reads all its pages.
pub(super) async fn of(published: &Published, name: &str) -> Result<Option<CollectionStats>> {
    let snapshot = published.get()?;
    let Some(collection) = snapshot.schema.collection(name).cloned() else {
        return Ok(None);
    };
    let (reply, answer) = oneshot::channel();
    let measuring = move || {
        let measured = measure(&snapshot, &collection);
        drop(snapshot);
        let _ = reply.send(measured);
    };
    let thread = thread::Builder::new().name("odm-stats".to_owned());
    thread.spawn(measuring).map_err(|error| {
        Error::new(
            ErrorKind::Io,
            "cannot start the thread that measures a collection",
        )
        .with_source(error)
    })?;
    let measured = answer.await.unwrap_or_else(|_| {
        let message = format!("`{name}` could not be measured: the thread for it panicked");
        Err(Error::new(ErrorKind::Corrupt, message))
    });
    measured.map(Some)
}

fn measure(snapshot: &Snapshot, collection: &Arc<Collection>) -> Result<CollectionStats> {
    let index = |name: &str, entries, bytes| IndexStats {
        name: name.to_owned(),
        entries: Some(entries),
        bytes,
    };
    let documents = entries(snapshot, collection.tree)?;
    let mut indexes = Vec::with_capacity(collection.indexes.len() + 1);
    for other in collection.declared() {
        let entries = entries(snapshot, other.tree)?;
        let bytes = bytes(snapshot, other.tree)?;
        indexes.push(index(&other.spec.name, entries, bytes));
    }
    indexes.sort_by(|a, b| a.name.cmp(&b.name));
    indexes.insert(0, index(ID_INDEX, documents, 0));
    Ok(CollectionStats {
        documents,
        bytes: bytes(snapshot, collection.tree)?,
        storage_bytes: snapshot.base.size(collection.tree)?.pages,
        indexes,
    })
}

fn entries(snapshot: &Snapshot, tree: Tree) -> Result<u64> {
    Ok(snapshot.view().len(tree)?.unwrap_or_default())
}

/// The bytes of the keys and the values of a tree: as the engine has them at the last checkpoint, with the changes since then.
fn bytes(snapshot: &Snapshot, tree: Tree) -> Result<u64> {
    let mut bytes = snapshot.base.size(tree)?.entries;
    // The tables are read from the newest to the oldest.
    let mut changed: HashSet<Vec<u8>> = HashSet::new();
    for mut changes in snapshot.memtables.ranges(tree, &[], &END, false) {
        while let Some(change) = changes.next() {
            let key = change.key();
            if !changed.insert(key.to_vec()) {
                continue;
            }
            let len = |value: &[u8]| key.len().saturating_add(value.len()) as u64;
            let before = snapshot.base.get(tree, key)?;
            bytes = bytes
                .saturating_sub(before.map_or(0, |value| len(&value)))
                .saturating_add(change.value().map_or(0, len));
        }
    }
    Ok(bytes)
}
