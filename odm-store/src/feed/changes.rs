//! The changes that a transaction records.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use odm_mql::key;

use super::{CommittedChange, Feed, history::KEPT_BYTES};
use crate::{Cause, CollectionChange, DocumentChange};

/// The changes of a transaction in watched collections.
///
/// A store with [outer writes](crate::Capabilities::outer_writes) MUST ask whether they are [complete](FeedChanges::is_complete) once the
/// place of the transaction in the order of commits is fixed, and before anything of it is stored or visible. If they are not, the
/// transaction has lost a conflict: its commit MUST fail with a [retryable](crate::Error::is_retryable) error, and a unit of work is run
/// again. On another store a watch waits for the open transaction.
///
/// A store MUST [publish](FeedChanges::publish) them after the commit is visible and as durable as requested and before the call that
/// commits returns, in the order of commits. It MUST drop them if the transaction, or the run of the unit of work, is rolled back.
#[derive(Debug)]
pub struct FeedChanges {
    feed: Feed,
    collections: BTreeMap<String, CollectionChanges>,
    /// The changes of whole collections, each with its place among all changes.
    whole: Vec<(usize, CommittedChange)>,
    /// The number of changes so far.
    recorded: usize,
    /// The collections that nobody watched when the transaction wrote to them.
    unrecorded: BTreeSet<String>,
    /// The bytes of the documents.
    bytes: usize,
    /// Whether they are too many for the watches of all collections, so that only the collections that others watch are recorded.
    is_too_large: bool,
    /// The collections whose changes were left out since then.
    left_out: BTreeSet<String>,
}

#[derive(Debug, Default)]
struct CollectionChanges {
    all: Vec<RecordedChange>,
    /// The position of each document by the key of its `_id`.
    positions: HashMap<Vec<u8>, usize>,
}

#[derive(Debug)]
struct RecordedChange {
    /// Its place among all changes of the transaction.
    place: usize,
    change: DocumentChange,
    is_cold_changed: bool,
}

impl RecordedChange {
    /// Whether a document is different that was there before or after.
    fn is_shown(&self) -> bool {
        let DocumentChange { before, after, .. } = &self.change;
        self.change.is_different()
            || (self.is_cold_changed && (before.is_some() || after.is_some()))
    }

    /// Consequences of writes come after them, also if they were changed between them.
    fn order(&self) -> (bool, usize) {
        (self.change.cause != Cause::Write, self.place)
    }
}

impl FeedChanges {
    pub(super) fn new(feed: Feed) -> Self {
        FeedChanges {
            feed,
            collections: BTreeMap::new(),
            whole: Vec::new(),
            recorded: 0,
            unrecorded: BTreeSet::new(),
            bytes: 0,
            is_too_large: false,
            left_out: BTreeSet::new(),
        }
    }

    /// Passes the changes to the watches: writes before their consequences.
    pub fn publish(self) {
        if self.recorded == 0 && self.unrecorded.is_empty() {
            return;
        }
        let is_kept = self.feed.has_history() && self.left_out.is_empty();
        let mut all = Vec::new();
        for (collection, changes) in self.collections {
            let changes = changes.all.into_iter();
            let mut changes: Vec<_> = changes.filter(RecordedChange::is_shown).collect();
            changes.sort_by_key(RecordedChange::order);
            if is_kept {
                let collection: Arc<str> = collection.as_str().into();
                all.extend(changes.iter().map(|one| {
                    let (collection, change) = (collection.clone(), one.change.clone());
                    let change = CommittedChange::Document { collection, change };
                    (one.order(), change)
                }));
            }
            if !changes.is_empty() {
                let commit = changes.into_iter().map(|one| one.change).collect();
                self.feed.send(&collection, commit);
            }
        }
        let whole = self.whole.into_iter();
        all.extend(whole.map(|(place, change)| ((false, place), change)));
        all.sort_by_key(|(order, _)| *order);
        let all = all.into_iter().map(|(_, change)| change).collect();
        self.feed.send_all(self.left_out.is_empty().then_some(all));
    }

    /// Whether they have all changes of the collections that are watched now: no watch has begun after a write of the transaction to its
    /// collection.
    pub fn is_complete(&self) -> bool {
        let (mut unrecorded, mut left_out) = (self.unrecorded.iter(), self.left_out.iter());
        !unrecorded.any(|collection| self.feed.is_watched(collection))
            && !left_out.any(|collection| self.feed.is_watched_alone(collection))
    }

    /// Takes the recorded changes, and leaves an empty record.
    pub fn take(&mut self) -> FeedChanges {
        let empty = self.feed.begin();
        std::mem::replace(self, empty)
    }

    /// Whether somebody watches a collection that the transaction is about to write to, so that it records its changes.
    #[doc(hidden)]
    pub fn is_watched(&mut self, collection: &str) -> bool {
        let is_watched = self.feed.is_watched(collection);
        if !is_watched && !self.unrecorded.contains(collection) {
            self.unrecorded.insert(collection.to_owned());
        }
        is_watched
    }

    /// Records a change of a whole collection.
    #[doc(hidden)]
    pub fn add_whole(&mut self, change: CollectionChange) {
        self.push(CommittedChange::Collection(change));
    }

    /// Records that the collections which were removed were all of the store.
    #[doc(hidden)]
    pub fn add_drop_all(&mut self) {
        self.push(CommittedChange::DropAll);
    }

    fn push(&mut self, change: CommittedChange) {
        self.whole.push((self.recorded, change));
        self.recorded += 1;
    }

    /// Records a change of a document, after its recorded changes.
    #[doc(hidden)]
    pub fn add(&mut self, collection: &str, change: DocumentChange, is_cold_changed: bool) {
        if self.is_too_large && self.is_left_out(collection) {
            return;
        }
        let key = key::of(change.id());
        let changes = self.collections.entry(collection.to_owned());
        let changes = changes.or_default();
        match changes.positions.get(&key) {
            Some(&at) => {
                let recorded = &mut changes.all[at];
                self.bytes -= recorded.change.size();
                recorded.change.after = change.after;
                recorded.change.is_replaced |= change.is_replaced;
                recorded.is_cold_changed |= is_cold_changed;
                if change.cause == Cause::Write {
                    recorded.change.cause = Cause::Write;
                }
                self.bytes += recorded.change.size();
            }
            None => {
                changes.positions.insert(key, changes.all.len());
                let place = self.recorded;
                self.recorded += 1;
                self.bytes += change.size();
                changes.all.push(RecordedChange {
                    place,
                    change,
                    is_cold_changed,
                });
            }
        }
        if self.bytes > KEPT_BYTES && !self.is_too_large {
            self.is_too_large = true;
            let recorded: Vec<String> = self.collections.keys().cloned().collect();
            for collection in recorded {
                self.is_left_out(&collection);
            }
        }
    }

    /// Forgets the changes of a collection that nobody watches alone, and those to come. Returns whether it does.
    fn is_left_out(&mut self, collection: &str) -> bool {
        if self.left_out.contains(collection) {
            return true;
        }
        if self.feed.is_watched_alone(collection) {
            return false;
        }
        self.collections.remove(collection);
        self.left_out.insert(collection.to_owned())
    }
}

#[cfg(test)]
mod tests;
