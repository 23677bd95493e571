//! The unread updates of a unit, updates of documents that it has not read, and the documents that are left to them.

use std::collections::{BTreeMap, BTreeSet};

use bson::RawBson;
use odm_mql::{Filter, Update, key};
use odm_store::UnreadUpdate;

/// The identity of a document: its collection, and the key of its `_id`.
pub(in crate::maintain) type DocumentKey = (String, Vec<u8>);

/// The proof that no refresh of a unit is left to an unread update: the end of [`Unread`](super::Unread) returns it, and a unit
/// does not end without it.
pub(in crate::maintain) struct Settled(pub(super) ());

/// The unread updates of a unit.
#[derive(Default)]
pub(in crate::maintain) struct UnreadUpdates {
    /// The collections whose documents are refreshed by updates, unless the unit holds them.
    collections: BTreeSet<String>,
    /// The decision about each document of these collections, the same for all its fields: `left` to updates, with its `_id`, or
    /// `read`.
    left: BTreeMap<DocumentKey, RawBson>,
    read: BTreeSet<DocumentKey>,
    /// The documents to which the refresh is limited.
    only: Option<BTreeSet<DocumentKey>>,
    /// The updates that the next flush writes.
    queued: Vec<UnreadUpdate>,
    /// The documents that are updated, and so exist.
    updated: BTreeSet<DocumentKey>,
    /// The documents that did not match.
    unmatched: BTreeSet<DocumentKey>,
}

fn document_key(collection: &str, id: &RawBson) -> DocumentKey {
    (collection.to_owned(), key::of(id.as_raw_bson_ref()))
}

impl UnreadUpdates {
    /// Begins a refresh that leaves the documents of these collections to updates.
    pub(super) fn begin(&mut self, collections: BTreeSet<String>) {
        self.collections = collections;
        self.read.clear();
        self.only = None;
    }

    /// Whether a refresh leaves a document out: an update refreshes it, or the refresh is limited to other documents.
    pub(in crate::maintain) fn leaves_out(
        &mut self,
        collection: &str,
        id: &RawBson,
        is_held: impl FnOnce(&[u8]) -> bool,
    ) -> bool {
        if let Some(only) = &self.only {
            return !only.contains(&document_key(collection, id));
        }
        if !self.collections.contains(collection) {
            return false;
        }
        let document = document_key(collection, id);
        if self.left.contains_key(&document) {
            return true;
        }
        if self.read.contains(&document) {
            return false;
        }
        let is_held = is_held(&document.1);
        if is_held {
            self.read.insert(document);
        } else {
            self.left.insert(document, id.clone());
        }
        !is_held
    }

    /// Whether the documents of a collection are left to updates.
    pub(in crate::maintain) fn is_left(&self, collection: &str) -> bool {
        self.collections.contains(collection)
    }

    /// Takes the documents that the refresh has left out.
    pub(super) fn take_left(&mut self) -> BTreeMap<DocumentKey, RawBson> {
        self.collections.clear();
        std::mem::take(&mut self.left)
    }

    /// Limits the next refresh to these documents, which no refresh has reached yet.
    pub(super) fn refresh_only(&mut self, documents: BTreeSet<DocumentKey>) {
        self.only = Some(documents);
    }

    /// Queues the update of one document.
    pub(super) fn update(
        &mut self,
        collection: &str,
        id: RawBson,
        (filter, update): (Filter, Update),
    ) {
        self.updated.insert(document_key(collection, &id));
        self.queued.push(UnreadUpdate {
            collection: collection.to_owned(),
            id: Some(id),
            filter,
            update,
        });
    }

    /// Queues updates of all documents that match.
    pub(in crate::maintain) fn update_followers(
        &mut self,
        collection: &str,
        updates: Vec<(Filter, Update)>,
    ) {
        let updates = updates.into_iter().map(|(filter, update)| UnreadUpdate {
            collection: collection.to_owned(),
            id: None,
            filter,
            update,
        });
        self.queued.extend(updates);
    }

    /// Whether a document that the unit does not hold is updated, and so exists.
    pub(in crate::maintain) fn is_updated(&self, collection: &str, id: &RawBson) -> bool {
        !self.updated.is_empty() && self.updated.contains(&document_key(collection, id))
    }

    pub(in crate::maintain) fn is_queued(&self) -> bool {
        !self.queued.is_empty()
    }

    /// Takes the queued updates.
    pub(in crate::maintain) fn take(&mut self) -> Vec<UnreadUpdate> {
        std::mem::take(&mut self.queued)
    }

    /// Records which of the written updates, by their positions, found no document.
    pub(in crate::maintain) fn written(&mut self, updates: &[UnreadUpdate], unmatched: &[usize]) {
        for update in unmatched.iter().map(|&at| &updates[at]) {
            if let Some(id) = &update.id {
                let document = document_key(&update.collection, id);
                self.updated.remove(&document);
                self.unmatched.insert(document);
            }
        }
    }

    /// Takes the documents whose updates did not match.
    pub(super) fn take_unmatched(&mut self) -> BTreeSet<DocumentKey> {
        std::mem::take(&mut self.unmatched)
    }
}
