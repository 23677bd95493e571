//! The writes of a transaction.

use std::{fmt, sync::Arc};

use bson::{DateTime, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, oid::ObjectId, raw::cstr};
use odm_mql::{self as mql, Filter, Update, path};

use super::{Cost, document::id_first};
use crate::error::{Error, ErrorKind, Result};

/// The part of a [batch](crate::Transaction::apply) that is about one collection.
#[derive(Debug, Clone, PartialEq)]
pub struct CollectionWrites<'a> {
    /// The collection. A store MUST create a missing one.
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
        /// The current image.
        before: &'a RawDocument,
        /// As it will be, with an equal `_id`.
        after: &'a RawDocument,
    },
    /// The removal of a document, with its current image.
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

/// A change without consequences of the documents that match a filter.
#[derive(Debug, Clone)]
pub struct UpdateWrite {
    /// The collection.
    pub collection: String,
    /// The documents that change: all matching ones.
    pub filter: Filter,
    /// How they change.
    pub change: Change,
    /// Whether a document is inserted if no document matches: the values that the filter fixes by equality, with the change. It gets a new
    /// `ObjectId` if neither has an `_id`.
    pub upsert: bool,
    /// A check of each document that changes or is inserted. [`changed`](UpdateWrite::changed) and
    /// [`inserted`](UpdateWrite::inserted) run it; a store that calls neither MUST validate the documents
    /// itself.
    pub check: Option<DocumentCheck>,
}

/// A check of a document as it will be stored, with the document that it replaces. An error fails the write.
#[derive(Clone)]
pub struct DocumentCheck(Arc<CheckFn>);

type CheckFn = dyn Fn(Option<&RawDocument>, &RawDocument) -> Result<()> + Send + Sync;

impl DocumentCheck {
    /// Makes a check of a function of the document before and after the write.
    pub fn new(
        check: impl Fn(Option<&RawDocument>, &RawDocument) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        DocumentCheck(Arc::new(check))
    }
}

impl DocumentCheck {
    /// Checks a document as it will be stored, with the document that it replaces.
    #[doc(hidden)]
    pub fn run(&self, before: Option<&RawDocument>, after: &RawDocument) -> Result<()> {
        (self.0)(before, after)
    }
}

impl fmt::Debug for DocumentCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DocumentCheck").finish_non_exhaustive()
    }
}

impl UpdateWrite {
    /// Returns a matching document after the change, with `_id` as the first field, or `None` if it stays as it is. `now` is the time of
    /// the call.
    ///
    /// # Errors
    ///
    /// [`InvalidUpdate`](ErrorKind::InvalidUpdate) if the change cannot be applied to the document;
    /// [`InvalidQuery`](ErrorKind::InvalidQuery) if it can be applied to no document; the errors of the check.
    pub fn changed(&self, before: &RawDocument, now: DateTime) -> Result<Option<RawDocumentBuf>> {
        let after = match &self.change {
            Change::Update(update) => {
                let after = update.apply_matched(&self.filter, before, now);
                after.map_err(|error| Error::of_update(&self.collection, before, error))?
            }
            Change::Replace(document) => {
                let id = path::get(before, "_id").unwrap_or(RawBsonRef::Null);
                Some(replacement(&self.collection, document, id)?)
            }
        };
        let after = after.filter(|after| after.as_bytes() != before.as_bytes());
        let after = after.map(with_id_first);
        if let (Some(DocumentCheck(check)), Some(after)) = (&self.check, &after) {
            check(Some(before), after)?;
        }
        Ok(after)
    }

    /// Returns the document that an upsert inserts if no document matches, with `_id` as the first field.
    ///
    /// # Errors
    ///
    /// The errors of [`changed`](UpdateWrite::changed), and [`Encode`](ErrorKind::Encode) if the filter fixes a value that cannot be
    /// stored.
    pub fn inserted(&self, now: DateTime) -> Result<RawDocumentBuf> {
        let seed = self.filter.upsert_seed()?;
        let seed = RawDocumentBuf::try_from(&seed).map_err(|error| {
            let message = "upsert cannot be stored: its filter has a value that is no BSON";
            Error::new(ErrorKind::Encode, message).with_source(error)
        })?;
        let document = match &self.change {
            Change::Update(update) => update.apply(&seed, true, now)?.unwrap_or(seed),
            Change::Replace(document) => {
                let id = path::get(document, "_id").or_else(|| path::get(&seed, "_id"));
                let id = id.map_or_else(|| ObjectId::new().into(), RawBson::from);
                replacement(&self.collection, document, id.as_raw_bson_ref())?
            }
        };
        let document = match path::get(&document, "_id") {
            Some(_) => with_id_first(document),
            None => {
                let id = RawBson::from(ObjectId::new());
                id_first(&document, id.as_raw_bson_ref()).unwrap_or(document)
            }
        };
        if let Some(DocumentCheck(check)) = &self.check {
            check(None, &document)?;
        }
        Ok(document)
    }
}

fn with_id_first(document: RawDocumentBuf) -> RawDocumentBuf {
    let reordered = path::get(&document, "_id").and_then(|id| id_first(&document, id));
    reordered.unwrap_or(document)
}

/// A whole document that replaces the one with this `_id`, and keeps the `_id`.
fn replacement(
    collection: &str,
    document: &RawDocument,
    id: RawBsonRef<'_>,
) -> Result<RawDocumentBuf> {
    match path::get(document, "_id") {
        Some(own) if mql::order::equal(own, id) => {}
        None => {}
        Some(_) => {
            let error = Error::from(mql::Error::Immutable("_id".to_owned()));
            return Err(error.at(collection, Some("_id"), Some(id.into())));
        }
    }
    let mut replacement = RawDocumentBuf::new();
    replacement.append(cstr!("_id"), id);
    for element in document.iter() {
        let (name, value) = element.map_err(|error| {
            Error::new(
                ErrorKind::Encode,
                format!("a document of `{collection}` is malformed"),
            )
            .with_source(error)
        })?;
        if name.as_str() != "_id" {
            replacement.append(name, value);
        }
    }
    Ok(replacement)
}

/// How a document is changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// By operators. All `$currentDate`s of one call have one time.
    Update(Update),
    /// By a whole document, whose `_id` is absent or the old one. It has no empty timestamp that a store
    /// would fill.
    Replace(RawDocumentBuf),
}

/// A removal without consequences of all documents that match a filter.
#[derive(Debug, Clone, PartialEq)]
pub struct DeleteWrite {
    /// The collection.
    pub collection: String,
    /// The documents that are removed.
    pub filter: Filter,
}

/// A write of one document without consequences, which a store may run [without a transaction](super::Store::write_single).
#[derive(Debug, Clone)]
pub struct SingleWriteRequest {
    /// The write.
    pub write: SingleWrite,
    /// The [epoch](super::Lock::Epoch) in which the write has no consequences. `None` if it has none in any epoch.
    pub epoch: Option<i64>,
}

/// A write of one document.
#[derive(Debug, Clone)]
pub enum SingleWrite {
    /// A new document, which has passed all checks.
    Insert {
        /// The collection.
        collection: String,
        /// The document, with `_id` as its first field.
        document: RawDocumentBuf,
    },
    /// A change of a document, which the filter names by its `_id`, with conditions under which it passes all checks after
    /// the update, or a replacement of it, which has passed them.
    Update(UpdateWrite),
    /// A removal of a document, which the filter names by its `_id`.
    Delete(DeleteWrite),
}

impl SingleWrite {
    /// Returns the collection.
    pub fn collection(&self) -> &str {
        match self {
            SingleWrite::Insert { collection, .. } => collection,
            SingleWrite::Update(write) => &write.collection,
            SingleWrite::Delete(write) => &write.collection,
        }
    }
}

/// The result of an update.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Updated {
    /// The number of documents that matched.
    pub matched: u64,
    /// The number of matching documents that have changed.
    pub modified: u64,
    /// Whether a document was inserted because no document matched.
    pub inserted: bool,
    /// The cost of the update.
    pub cost: Cost,
}

/// The result of a removal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Deleted {
    /// The number of documents that were removed.
    pub removed: u64,
    /// The cost of the removal.
    pub cost: Cost,
}
