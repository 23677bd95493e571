//! Updates of documents that the unit has not read, which are flushed with the queue.

use std::collections::{BTreeMap, BTreeSet};

use bson::RawBson;

use super::Unit;
use crate::{
    mql::{Filter, Update, key},
    store::BlindUpdate,
};

/// What tells documents apart: the collection, and the key of the `_id`.
pub(in crate::maintain) type DocumentKey = (String, Vec<u8>);

/// The blind updates of a unit.
#[derive(Default)]
pub(super) struct Blind {
    /// The collections in which blind updates refresh what follows.
    collections: BTreeSet<String>,
    /// The documents whose refresh was left out, with their `_id`s.
    left: BTreeMap<DocumentKey, RawBson>,
    /// Nothing more is left out.
    is_over: bool,
    /// The updates that the next flush writes.
    queued: Vec<BlindUpdate>,
    /// The documents that are updated, and so exist.
    updated: BTreeSet<DocumentKey>,
    /// The collections and references along which copies are updated.
    followed: BTreeSet<(String, String)>,
    /// Documents did not match.
    is_unmatched: bool,
}

impl Blind {
    pub(super) fn is_queued(&self) -> bool {
        !self.queued.is_empty()
    }

    /// Takes the updates that are queued.
    pub(super) fn take(&mut self) -> Vec<BlindUpdate> {
        std::mem::take(&mut self.queued)
    }

    /// Records which updates have not found their documents.
    pub(super) fn written(&mut self, updates: &[BlindUpdate], unmatched: &[usize]) {
        self.is_unmatched |= !unmatched.is_empty();
        for update in unmatched.iter().map(|&at| &updates[at]) {
            if let Some(id) = &update.id {
                self.updated.remove(&document_key(&update.collection, id));
            }
        }
    }
}

fn document_key(collection: &str, id: &RawBson) -> DocumentKey {
    (collection.to_owned(), key::of(id.as_raw_bson_ref()))
}

impl Unit<'_> {
    /// Whether blind updates take fewer requests than reads. Where it is asked for what each step touches, documents are read.
    pub(in crate::maintain) fn has_blind_updates(&self) -> bool {
        let reads_all = self.repairs || self.imports || self.steps.is_some();
        !reads_all && !self.blind.is_over && self.transaction.has_blind_updates()
    }

    /// Leaves the refresh of documents of these collections to blind updates, unless the unit holds them.
    pub(in crate::maintain) fn leave_unread(&mut self, collections: BTreeSet<String>) {
        self.blind.collections = collections;
    }

    /// Leaves out the refresh of a document, if a blind update does it, or has done it.
    pub(in crate::maintain) fn leaves_out(&mut self, collection: &str, id: &RawBson) -> bool {
        let document = document_key(collection, id);
        if self.blind.updated.contains(&document) {
            return true;
        }
        let is_left = self.blind.collections.contains(collection)
            && self.images(collection).position(&document.1).is_none();
        if is_left {
            self.blind.left.insert(document, id.clone());
        }
        is_left
    }

    /// Ends the time in which documents are left out, and returns those that were.
    pub(in crate::maintain) fn take_left(&mut self) -> BTreeMap<DocumentKey, RawBson> {
        self.blind.is_over = true;
        self.blind.collections.clear();
        std::mem::take(&mut self.blind.left)
    }

    /// Queues the update of a document that the unit does not hold, and shares the document.
    pub(in crate::maintain) fn update_blind(
        &mut self,
        collection: &str,
        id: RawBson,
        (filter, update): (Filter, Update),
    ) {
        self.share(collection, [&id]);
        self.blind.updated.insert(document_key(collection, &id));
        self.blind.queued.push(BlindUpdate {
            collection: collection.to_owned(),
            id: Some(id),
            filter,
            update,
        });
    }

    /// Whether a document that the unit does not hold is updated, and so exists.
    pub(super) fn is_updated_blind(&self, collection: &str, id: &RawBson) -> bool {
        self.blind.updated.contains(&document_key(collection, id))
    }

    /// Whether blind updates can refresh all copies along a reference in a collection of which the unit has changed nothing.
    pub(in crate::maintain) fn leaves_followers(&self, collection: &str) -> bool {
        let is_left = self.blind.collections.contains(collection);
        is_left && self.images(collection).changed().next().is_none()
    }

    /// Queues the updates of all copies along a reference.
    pub(in crate::maintain) fn update_followers(
        &mut self,
        (collection, reference): (&str, &str),
        updates: Vec<(Filter, Update)>,
    ) {
        let along = (collection.to_owned(), reference.to_owned());
        self.blind.followed.insert(along);
        let updates = updates.into_iter().map(|(filter, update)| BlindUpdate {
            collection: collection.to_owned(),
            id: None,
            filter,
            update,
        });
        self.blind.queued.extend(updates);
    }

    /// Whether blind updates refresh all copies along a reference.
    pub(in crate::maintain) fn has_updated_followers(
        &self,
        collection: &str,
        reference: &str,
    ) -> bool {
        let along = (collection.to_owned(), reference.to_owned());
        self.blind.followed.contains(&along)
    }

    /// Whether documents of blind updates did not match, since the last call.
    pub(in crate::maintain) fn take_unmatched(&mut self) -> bool {
        std::mem::take(&mut self.blind.is_unmatched)
    }
}
