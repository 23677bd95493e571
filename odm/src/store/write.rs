//! What a transaction writes.

use bson::{RawDocument, RawDocumentBuf};

use crate::mql::{Filter, Sort, Update};

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

/// A change of the documents that match a filter.
#[derive(Debug, Clone, PartialEq)]
pub struct UpdateWrite {
    /// The collection.
    pub collection: String,
    /// Which documents.
    pub filter: Filter,
    /// Where `multi` is false: which of the documents that match, by order.
    pub sort: Sort,
    /// What to do with them.
    pub change: Change,
    /// All that match, or the first.
    pub multi: bool,
    /// Insert a document where none matches.
    pub upsert: bool,
}

/// How a document is changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// By operators.
    Update(Update),
    /// By a whole document, whose `_id` is absent or the old one.
    Replace(RawDocumentBuf),
}

/// A removal of the documents that match a filter.
#[derive(Debug, Clone, PartialEq)]
pub struct DeleteWrite {
    /// The collection.
    pub collection: String,
    /// Which documents.
    pub filter: Filter,
    /// All that match, or the first in the order of `_id`.
    pub multi: bool,
}

/// What an update did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Updated {
    /// How many documents matched.
    pub matched: u64,
    /// The documents that are different now.
    pub changes: Vec<Changed>,
    /// The document that was inserted, as nothing matched.
    pub upserted: Option<RawDocumentBuf>,
}

/// One document, before and after.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// As it was.
    pub before: RawDocumentBuf,
    /// As it is.
    pub after: RawDocumentBuf,
}
