//! What a transaction writes.

use bson::{RawDocument, RawDocumentBuf};

use super::Cost;
use crate::mql::{Filter, Update};

/// The part of a [batch](crate::store::Transaction::apply) that is about one collection.
#[derive(Debug, Clone, PartialEq)]
pub struct CollectionWrites<'a> {
    /// The collection. A store MUST create one that does not exist.
    pub collection: &'a str,
    /// One write for each document, in any order.
    pub writes: Vec<DocumentWrite<'a>>,
}

/// The write of one document in a batch.
///
/// The images are complete, with `_id` as the first field. `before` is the document as the
/// transaction has it, byte for byte.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DocumentWrite<'a> {
    /// A new document.
    Insert(&'a RawDocument),
    /// A document that changes.
    Replace {
        /// As it is.
        before: &'a RawDocument,
        /// As it will be, with an equal `_id`.
        after: &'a RawDocument,
    },
    /// A document that is removed, as it is.
    Remove(&'a RawDocument),
}

impl<'a> DocumentWrite<'a> {
    /// Returns the image before the write; `None` before an insert.
    pub fn before(&self) -> Option<&'a RawDocument> {
        match *self {
            DocumentWrite::Insert(_) => None,
            DocumentWrite::Replace { before, .. } | DocumentWrite::Remove(before) => Some(before),
        }
    }

    /// Returns the image after the write; `None` after a removal.
    pub fn after(&self) -> Option<&'a RawDocument> {
        match *self {
            DocumentWrite::Insert(after) | DocumentWrite::Replace { after, .. } => Some(after),
            DocumentWrite::Remove(_) => None,
        }
    }

    /// Returns the newest image, which has the `_id` of the document.
    pub fn document(&self) -> &'a RawDocument {
        match *self {
            DocumentWrite::Insert(document)
            | DocumentWrite::Replace {
                after: document, ..
            }
            | DocumentWrite::Remove(document) => document,
        }
    }
}

/// A change of the documents that match a filter, from which nothing follows.
#[derive(Debug, Clone, PartialEq)]
pub struct UpdateWrite {
    /// The collection.
    pub collection: String,
    /// The documents that change: all that match.
    pub filter: Filter,
    /// How they change.
    pub change: Change,
    /// Whether a document is inserted where none matches: what the filter fixes by equality, with
    /// the change. It gets a new `ObjectId` if neither has an `_id`.
    pub upsert: bool,
}

/// How a document is changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// By operators. All `$currentDate`s of one call have one time.
    Update(Update),
    /// By a whole document, whose `_id` is absent or the old one.
    Replace(RawDocumentBuf),
}

/// A removal of all documents that match a filter, from which nothing follows.
#[derive(Debug, Clone, PartialEq)]
pub struct DeleteWrite {
    /// The collection.
    pub collection: String,
    /// The documents that are removed.
    pub filter: Filter,
}

/// The result of an update.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Updated {
    /// The number of documents that matched.
    pub matched: u64,
    /// The number of those that are different now.
    pub modified: u64,
    /// Whether a document was inserted, as none matched.
    pub inserted: bool,
    /// What the update touched.
    pub cost: Cost,
}

/// The result of a removal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Deleted {
    /// The number of documents that were removed.
    pub removed: u64,
    /// What the removal touched.
    pub cost: Cost,
}
