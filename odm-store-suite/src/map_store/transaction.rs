//! A transaction on a copy of a snapshot.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use bson::{DateTime, RawBson, RawDocumentBuf};
use odm_mql::{Filter, key};
use odm_store::{
    Change, CollectionWrites, Cost, DeleteWrite, Deleted, DocumentWrite, Each, Error, ErrorKind,
    Explain, FeedChanges, Find, FindByKey, Locks, Reader, Result, Transaction, UpdateWrite,
    Updated,
};

use super::{
    CommitOrder, MapStore, closed,
    reads::Reads,
    state::{Key, State, UniqueValues},
};

/// Writes on a copy of a snapshot, which the commit moves to the committed state.
pub(super) struct MapTransaction {
    store: MapStore,
    snapshot: Arc<State>,
    /// The snapshot with the writes.
    state: State,
    /// The documents that were written, by collection and the key of `_id`.
    written: BTreeMap<String, BTreeSet<Key>>,
    /// The locks, on a store that is not serializable.
    locks: Locks,
    /// The reads, on a serializable store.
    reads: Mutex<Reads>,
    changes: Option<FeedChanges>,
}

impl MapTransaction {
    pub(super) fn new(store: MapStore, snapshot: Arc<State>) -> Self {
        MapTransaction {
            changes: store.order.as_ref().map(|order| order.feed.begin()),
            store,
            state: State::clone(&snapshot),
            snapshot,
            written: BTreeMap::new(),
            locks: Locks::default(),
            reads: Mutex::default(),
        }
    }

    fn is_serializable(&self) -> bool {
        self.store.order.is_some()
    }

    /// Records a read, on a serializable store.
    fn reads(&self, record: impl FnOnce(&mut Reads)) {
        if self.is_serializable() {
            record(&mut self.reads.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Applies a batch as a whole or not at all.
    fn write(&mut self, batch: &[CollectionWrites<'_>]) -> Result<Cost> {
        let mut state = self.state.clone();
        let mut cost = Cost {
            queries: 1,
            ..Cost::default()
        };
        for CollectionWrites { collection, writes } in batch {
            state.apply(collection, writes, UniqueValues::AreTakenInOrder)?;
            cost.documents_written += writes.len() as u64;
        }
        self.state = state;
        for CollectionWrites { collection, writes } in batch {
            let written = self.written.entry((*collection).to_owned()).or_default();
            let ids = writes.iter().map(|write| write.document().get("_id"));
            written.extend(ids.flatten().flatten().map(key::of));
        }
        Ok(cost)
    }

    fn write_to(&mut self, collection: &str, writes: Vec<DocumentWrite<'_>>) -> Result<Cost> {
        if writes.is_empty() {
            return self.write(&[]);
        }
        self.write(&[CollectionWrites { collection, writes }])
    }

    fn matching(&self, name: &str, filter: &Filter) -> Result<Vec<Arc<RawDocumentBuf>>> {
        self.reads(|reads| reads.find(name, filter));
        let collection = self.state.collection(name);
        let found = collection.map(|collection| collection.matching(name, &[filter]));
        let found = found.transpose()?.unwrap_or_default();
        Ok(found.into_iter().cloned().collect())
    }

    /// Commits, if no written document and no written unique key has changed since the snapshot, and no lock or read is lost.
    pub(super) fn finish(mut self) -> Result<()> {
        let store = self.store.clone();
        // Held until the changes are published, so that they are in the order of commits. Who is told of them can read the state.
        let _order = store.order.as_ref().map(CommitOrder::take);
        let changes = self.changes.take();
        self.commit_changes(changes.as_ref())?;
        changes.into_iter().for_each(FeedChanges::publish);
        Ok(())
    }

    fn commit_changes(mut self, changes: Option<&FeedChanges>) -> Result<()> {
        let mut current = self.store.current();
        let base = current.as_ref().ok_or_else(closed)?;
        let mut next = State::clone(base);
        // A transaction that only reads has read one state.
        if !self.written.is_empty() {
            if !next.lock(&self.snapshot, self.locks.take())? {
                return Err(lost("a lock"));
            }
            let reads = self.reads.get_mut();
            let reads = reads.unwrap_or_else(PoisonError::into_inner);
            if reads.are_stale(&self.snapshot, base) {
                return Err(lost("what it has read"));
            }
            if changes.is_some_and(|changes| !changes.is_complete()) {
                return Err(lost("who watches its changes"));
            }
        }
        for (collection, ids) in &self.written {
            let mut writes = Vec::with_capacity(ids.len());
            for id in ids {
                let before = self.snapshot.document(collection, id);
                if before.map(Arc::as_ptr) != base.document(collection, id).map(Arc::as_ptr) {
                    return Err(lost_document(collection));
                }
                let after = self.state.document(collection, id);
                match (before, after) {
                    (None, None) => {}
                    (None, Some(after)) => writes.push(DocumentWrite::Insert(after)),
                    (Some(before), Some(after)) => {
                        writes.push(DocumentWrite::Replace { before, after });
                    }
                    (Some(before), None) => writes.push(DocumentWrite::Remove(before)),
                }
            }
            let applied = next.apply(collection, &writes, UniqueValues::AreExchanged);
            // The key was free in the snapshot.
            applied.map_err(|error| match error.is_duplicate_key() {
                true => lost_document(collection).with_source(error),
                false => error,
            })?;
        }
        *current = Some(Arc::new(next));
        Ok(())
    }
}

fn lost_document(collection: &str) -> Error {
    lost(&format!("a document of `{collection}`"))
}

#[cold]
fn lost(what: &str) -> Error {
    let message = format!("transaction lost: another one has changed {what}; run it again");
    Error::new(ErrorKind::TransactionAborted, message).retryable()
}

#[async_trait]
impl Reader for MapTransaction {
    async fn get(&self, collection: &str, ids: &[RawBson], each: Each<'_>) -> Result<Cost> {
        self.store.step().await;
        self.reads(|reads| reads.get(collection, ids));
        self.state.get(collection, ids, each).await
    }

    async fn find(&self, find: &Find, each: Each<'_>) -> Result<Cost> {
        self.store.step().await;
        self.reads(|reads| reads.find(&find.collection, &find.filter));
        self.state.find(find, each).await
    }

    async fn find_by_key(&self, find: &FindByKey, each: Each<'_>) -> Result<Cost> {
        self.store.step().await;
        self.reads(|reads| reads.find_by_key(find));
        self.state.find_by_key(find, each).await
    }

    async fn count(&self, find: &Find) -> Result<(u64, Cost)> {
        self.store.step().await;
        self.reads(|reads| reads.find(&find.collection, &find.filter));
        self.state.count(find).await
    }

    async fn count_by_key(&self, find: &FindByKey) -> Result<(Vec<u64>, Cost)> {
        self.store.step().await;
        self.reads(|reads| reads.find_by_key(find));
        self.state.count_by_key(find).await
    }

    async fn explain(&self, find: &Find) -> Result<Explain> {
        self.state.explain(find).await
    }

    async fn index_of(&self, find: &Find) -> Result<Option<String>> {
        self.state.index_of(find).await
    }

    async fn default_collation(&self, collection: &str) -> Result<Option<odm_mql::Collation>> {
        self.state.default_collation(collection).await
    }
}

#[async_trait]
impl Transaction for MapTransaction {
    async fn apply(&mut self, batch: &[CollectionWrites<'_>]) -> Result<Cost> {
        self.store.step().await;
        self.write(batch)
    }

    fn has_unread_updates(&self) -> bool {
        !self.is_serializable()
    }

    async fn update(&mut self, write: &UpdateWrite) -> Result<Updated> {
        self.store.step().await;
        if let Change::Update(update) = &write.change {
            update.check()?;
        }
        let now = DateTime::now();
        let mut updated = Updated::default();
        let mut changed = Vec::new();
        for before in self.matching(&write.collection, &write.filter)? {
            updated.matched += 1;
            if let Some(after) = write.changed(&before, now)? {
                changed.push((before, after));
            }
        }
        updated.modified = changed.len() as u64;
        let mut writes: Vec<DocumentWrite<'_>> = changed
            .iter()
            .map(|(before, after)| DocumentWrite::Replace { before, after })
            .collect();
        let inserted;
        if updated.matched == 0 && write.upsert {
            inserted = write.inserted(now)?;
            writes.push(DocumentWrite::Insert(&inserted));
            updated.inserted = true;
        }
        updated.cost = self.write_to(&write.collection, writes)?;
        Ok(updated)
    }

    async fn delete(&mut self, write: &DeleteWrite) -> Result<Deleted> {
        self.store.step().await;
        let found = self.matching(&write.collection, &write.filter)?;
        let writes = found.iter().map(|document| DocumentWrite::Remove(document));
        let cost = self.write_to(&write.collection, writes.collect())?;
        Ok(Deleted {
            removed: found.len() as u64,
            cost,
        })
    }

    fn changes(&mut self) -> Option<&mut FeedChanges> {
        self.changes.as_mut()
    }

    fn locks(&mut self) -> Option<&mut Locks> {
        let has_locks = !self.is_serializable() && !self.store.ignores_locks;
        has_locks.then_some(&mut self.locks)
    }

    async fn commit(self: Box<Self>) -> Result<()> {
        self.finish()
    }

    async fn rollback(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
