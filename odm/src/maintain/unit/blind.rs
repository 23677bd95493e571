//! Updates of documents that the unit has not read, which are flushed with the queue.

use std::collections::{BTreeMap, BTreeSet};

use bson::RawBson;
use odm_mql::{Filter, Update, key};
use odm_store::{BlindUpdate, Error, ErrorKind, Result};

use super::Unit;

/// What tells documents apart: the collection, and the key of the `_id`.
pub(in crate::maintain) type DocumentKey = (String, Vec<u8>);

/// The blind updates of a unit.
#[derive(Default)]
pub(super) struct Blind {
    /// The collections in which blind updates refresh what follows.
    collections: BTreeSet<String>,
    /// What was decided of their documents, once for all fields: those that are left to blind updates, with their `_id`s,
    /// and those that are not.
    left: BTreeMap<DocumentKey, RawBson>,
    read: BTreeSet<DocumentKey>,
    /// The documents to which a later refresh is limited.
    only: Option<BTreeSet<DocumentKey>>,
    /// The updates that the next flush writes.
    queued: Vec<BlindUpdate>,
    /// The documents that are updated, and so exist.
    updated: BTreeSet<DocumentKey>,
    /// The documents that did not match.
    unmatched: BTreeSet<DocumentKey>,
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
        for update in unmatched.iter().map(|&at| &updates[at]) {
            if let Some(id) = &update.id {
                let document = document_key(&update.collection, id);
                self.updated.remove(&document);
                self.unmatched.insert(document);
            }
        }
    }

    /// The collection of a document that is still to be refreshed, if there is one.
    fn undone(&self) -> Option<&str> {
        let documents = self.unmatched.iter().chain(self.left.keys());
        let documents = documents.map(|(collection, _)| collection.as_str());
        let queued = self.queued.iter().map(|update| update.collection.as_str());
        documents.chain(queued).next()
    }
}

fn document_key(collection: &str, id: &RawBson) -> DocumentKey {
    (collection.to_owned(), key::of(id.as_raw_bson_ref()))
}

impl Unit<'_> {
    /// Whether blind updates take fewer requests than reads. Where it is asked for what each step touches, or all changes are
    /// recorded, documents are read.
    pub(in crate::maintain) fn has_blind_updates(&mut self) -> bool {
        let reads_all = self.repairs || self.imports || self.steps.is_some();
        !reads_all && self.transaction.has_blind_updates() && self.transaction.changes().is_none()
    }

    /// Leaves what follows in documents of these collections to blind updates, unless the unit holds them.
    pub(in crate::maintain) fn leave_unread(&mut self, collections: BTreeSet<String>) {
        self.blind.collections = collections;
    }

    /// Whether the refresh leaves a document out, since a blind update does it, or since it is not among those to which the
    /// refresh is limited.
    pub(in crate::maintain) fn leaves_out(&mut self, collection: &str, id: &RawBson) -> bool {
        if let Some(only) = &self.blind.only {
            return !only.contains(&document_key(collection, id));
        }
        if !self.blind.collections.contains(collection) {
            return false;
        }
        let document = document_key(collection, id);
        if self.blind.left.contains_key(&document) {
            return true;
        }
        if self.blind.read.contains(&document) {
            return false;
        }
        let is_held = self.images(collection).position(&document.1).is_some();
        match is_held {
            true => drop(self.blind.read.insert(document)),
            false => drop(self.blind.left.insert(document, id.clone())),
        }
        !is_held
    }

    /// Takes the documents that were left out.
    pub(in crate::maintain) fn take_left(&mut self) -> BTreeMap<DocumentKey, RawBson> {
        self.blind.collections.clear();
        std::mem::take(&mut self.blind.left)
    }

    /// Limits what is refreshed from now on to these documents, of which nothing is refreshed yet.
    pub(in crate::maintain) fn refresh_only(&mut self, documents: BTreeSet<DocumentKey>) {
        self.blind.only = Some(documents);
    }

    /// Takes the documents of blind updates that did not match, and lets the next units read those of their collections.
    pub(in crate::maintain) fn take_unmatched(&mut self) -> BTreeSet<DocumentKey> {
        for (collection, _) in &self.blind.unmatched {
            self.catalog.missed_blind(collection);
        }
        std::mem::take(&mut self.blind.unmatched)
    }

    /// Refuses to commit documents that are left wrong: the steps of a write refresh all that its blind updates have not. If
    /// one of them is forgotten, the next units read the documents.
    pub(super) fn check_none_left(&self) -> Result<()> {
        let Some(collection) = self.blind.undone() else {
            return Ok(());
        };
        self.catalog.missed_blind(collection);
        let message = format!(
            "write aborted: a document of `{collection}` that follows from it was not updated, so that nothing of it is stored; \
             run it again, which reads the document, and report this, which is a mistake of the library"
        );
        Err(Error::new(ErrorKind::TransactionAborted, message).at(collection, None, None))
    }

    /// Queues the update of a document that the unit does not hold.
    pub(in crate::maintain) fn update_blind(
        &mut self,
        collection: &str,
        id: RawBson,
        (filter, update): (Filter, Update),
    ) {
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
        let updated = &self.blind.updated;
        !updated.is_empty() && updated.contains(&document_key(collection, id))
    }

    /// Whether blind updates can refresh all copies along a reference in a collection of which the unit has changed nothing.
    pub(in crate::maintain) fn leaves_followers(&self, collection: &str) -> bool {
        let is_left = self.blind.collections.contains(collection);
        let images = self.images(collection);
        is_left && !images.has_queue() && images.changed().next().is_none()
    }

    /// Queues the updates of all copies along a reference.
    pub(in crate::maintain) fn update_followers(
        &mut self,
        collection: &str,
        updates: Vec<(Filter, Update)>,
    ) {
        let updates = updates.into_iter().map(|(filter, update)| BlindUpdate {
            collection: collection.to_owned(),
            id: None,
            filter,
            update,
        });
        self.blind.queued.extend(updates);
    }
}

#[cfg(test)]
mod tests;
