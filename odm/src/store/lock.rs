//! Locks of documents, which a transaction takes beside its writes.

use std::collections::BTreeMap;

use bson::RawBsonRef;

use crate::mql::key;

/// A lock that a transaction holds until its end.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Lock {
    /// Of one document, which need not exist, shared by transactions that derive from it, or from its absence.
    Shared {
        /// The collection of the document.
        collection: String,
        /// The [key](crate::mql::key::of) of its `_id`.
        key: Vec<u8>,
    },
    /// Of one document, for a transaction that changes what others derive from it, or searches those that refer to it.
    Exclusive {
        /// The collection of the document.
        collection: String,
        /// The [key](crate::mql::key::of) of its `_id`.
        key: Vec<u8>,
    },
    /// Of the whole store, against all other transactions that write.
    All,
}

/// The locks that a transaction is about to take with its next request.
///
/// Snapshot isolation lets two transactions commit of which each writes what the other has read: a document copies a
/// name while the name is changed. The locks are of the documents over which two units of work can meet like that.
#[derive(Debug, Default)]
pub struct Locks {
    /// Whether each document is locked exclusively, by collection and key.
    documents: BTreeMap<(String, Vec<u8>), bool>,
    store: bool,
}

impl Locks {
    /// Returns the locks, each once, and leaves none.
    pub fn take(&mut self) -> Vec<Lock> {
        let documents = std::mem::take(&mut self.documents).into_iter();
        let documents = documents.map(|((collection, key), is_exclusive)| match is_exclusive {
            true => Lock::Exclusive { collection, key },
            false => Lock::Shared { collection, key },
        });
        let store = std::mem::take(&mut self.store).then_some(Lock::All);
        documents.chain(store).collect()
    }

    pub(crate) fn share(&mut self, collection: &str, id: RawBsonRef<'_>) {
        let document = (collection.to_owned(), key::of(id));
        self.documents.entry(document).or_insert(false);
    }

    pub(crate) fn exclude(&mut self, collection: &str, id: RawBsonRef<'_>) {
        let document = (collection.to_owned(), key::of(id));
        self.documents.insert(document, true);
    }

    pub(crate) fn exclude_all(&mut self) {
        self.store = true;
    }
}
