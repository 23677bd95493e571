//! Locks of documents, which a transaction takes in addition to its writes.

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error as StdError,
    fmt,
};

use bson::RawBsonRef;
use odm_mql::key;

use crate::error::{Error, ErrorKind};

/// A lock that a transaction holds until its end.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Lock {
    /// On one document, which need not exist, shared by transactions that derive from it, or from its absence.
    Shared {
        /// The collection of the document.
        collection: String,
        /// The [key](odm_mql::key::of) of its `_id`.
        key: Vec<u8>,
    },
    /// On one document, for a transaction that changes the source of derived data, or searches the referrers of the document.
    Exclusive {
        /// The collection of the document.
        collection: String,
        /// The [key](odm_mql::key::of) of its `_id`.
        key: Vec<u8>,
    },
    /// On one document that the transaction changes, so that it needs no lock at first. If it loses a conflict and its unit is run again,
    /// the store takes an exclusive lock at the beginning, so that the unit can finish among shorter ones.
    IfRunAgain {
        /// The collection of the document.
        collection: String,
        /// The [key](odm_mql::key::of) of its `_id`.
        key: Vec<u8>,
    },
    /// On the whole store in this epoch, a number that is 0 at first, shared by transactions whose writes are correct in this epoch. In
    /// another epoch, a transaction fails with [`OtherEpoch`].
    Epoch(i64),
    /// On the whole store, against all other transactions that write. The epoch begins with the commit.
    NextEpoch(i64),
}

/// The cause of the error of a transaction whose writes are for another [epoch](Lock::Epoch) of the store: it follows other relations than
/// the declared ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherEpoch;

impl fmt::Display for OtherEpoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the store is in another epoch")
    }
}

impl StdError for OtherEpoch {}

impl From<OtherEpoch> for Error {
    fn from(other: OtherEpoch) -> Self {
        let message =
            "transaction lost: the relations of the store were changed meanwhile; run it again";
        Error::new(ErrorKind::TransactionAborted, message)
            .with_source(other)
            .retryable()
    }
}

impl Error {
    /// Whether a transaction was refused for the epoch of the store.
    #[doc(hidden)]
    pub fn is_of_other_epoch(&self) -> bool {
        StdError::source(self).is_some_and(|source| source.is::<OtherEpoch>())
    }
}

/// The locks that a transaction is about to take with its next request.
///
/// Snapshot isolation lets two transactions commit although each writes a document that the other has read: a document copies a name while
/// the name is changed. The locks cover the documents over which two units of work can conflict in this way.
#[derive(Debug, Default)]
pub struct Locks {
    /// Whether each document is locked exclusively, by collection and key.
    documents: BTreeMap<(String, Vec<u8>), bool>,
    /// The documents that are locked if the unit is run again.
    if_run_again: BTreeSet<(String, Vec<u8>)>,
    epoch: Option<i64>,
    next_epoch: Option<i64>,
}

impl Locks {
    /// Returns the locks, each once, and empties the list.
    pub fn take(&mut self) -> Vec<Lock> {
        let documents = std::mem::take(&mut self.documents).into_iter();
        let documents = documents.map(|((collection, key), is_exclusive)| match is_exclusive {
            true => Lock::Exclusive { collection, key },
            false => Lock::Shared { collection, key },
        });
        let if_run_again = std::mem::take(&mut self.if_run_again).into_iter();
        let if_run_again =
            if_run_again.map(|(collection, key)| Lock::IfRunAgain { collection, key });
        let epoch = self.epoch.take().map(Lock::Epoch);
        let next_epoch = self.next_epoch.take().map(Lock::NextEpoch);
        let documents = documents.chain(if_run_again);
        documents.chain(epoch).chain(next_epoch).collect()
    }

    #[doc(hidden)]
    pub fn share(&mut self, collection: &str, id: RawBsonRef<'_>) {
        let document = (collection.to_owned(), key::of(id));
        self.documents.entry(document).or_insert(false);
    }

    #[doc(hidden)]
    pub fn exclude(&mut self, collection: &str, id: RawBsonRef<'_>) {
        let document = (collection.to_owned(), key::of(id));
        self.documents.insert(document, true);
    }

    #[doc(hidden)]
    pub fn exclude_if_run_again(&mut self, collection: &str, id: RawBsonRef<'_>) {
        let document = (collection.to_owned(), key::of(id));
        self.if_run_again.insert(document);
    }

    /// Whether the store does not know yet in which epoch the transaction writes.
    #[doc(hidden)]
    pub fn has_epoch(&self) -> bool {
        self.epoch.is_some()
    }

    #[doc(hidden)]
    pub fn share_epoch(&mut self, epoch: i64) {
        self.epoch = Some(epoch);
    }

    #[doc(hidden)]
    pub fn begin_epoch(&mut self, epoch: i64) {
        self.next_epoch = Some(epoch);
    }
}
