//! The one error of the library.

use std::{borrow::Cow, error::Error as StdError, fmt, sync::Arc};

use bson::{RawBson, RawBsonRef};

/// The result of an operation of this library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, and where.
///
/// The type is opaque, so that it can grow. Ask it by [`kind`](Error::kind) or by a predicate such
/// as [`is_not_found`](Error::is_not_found); show it with `Display`; follow its cause with
/// [`source`](StdError::source).
///
/// Cloning is cheap: several calls may have failed for one reason.
#[derive(Clone)]
pub struct Error(Arc<Inner>);

struct Inner {
    kind: ErrorKind,
    message: Cow<'static, str>,
    retryable: bool,
    at: Option<Place>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// The document, field or index that an error is about.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Place {
    /// The collection.
    pub collection: String,
    /// The path of the field, or the name of the index.
    pub path: Option<String>,
    /// The `_id` of the document, or the value of the field.
    pub id: Option<RawBson>,
}

/// The class of an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No document matches where one was asked for.
    NotFound,
    /// Several documents match where one was asked for.
    NotUnique,
    /// The `_id`, or the key of a unique index, is taken.
    DuplicateKey,
    /// A reference that the write adds leads nowhere.
    DanglingReference,
    /// A delete is refused, since other documents still refer to the document.
    Restricted,
    /// The document was changed since it was read.
    Stale,
    /// A filter, update, sort or projection is wrong, or uses something that the store lacks.
    InvalidQuery,
    /// An update cannot be applied to a document that matches it.
    InvalidUpdate,
    /// The models do not fit together, or not with the store.
    Schema,
    /// A value cannot be written as BSON.
    Encode,
    /// A stored document cannot be read as the type that was asked for.
    Decode,
    /// A document or a unit of work is larger than the limit.
    Limit,
    /// The transaction ran longer than the limit, and was rolled back.
    TransactionExpired,
    /// The transaction cannot commit, since a part of it failed.
    TransactionAborted,
    /// A write outside the transaction that the same task is in.
    OutsideTransaction,
    /// The store was closed, or its writer has failed.
    Closed,
    /// Another process has the file open.
    Locked,
    /// The file is no store, is of another format version, or is damaged.
    Corrupt,
    /// The operating system refused.
    Io,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Error(Arc::new(Inner {
            kind,
            message: message.into(),
            retryable: kind == ErrorKind::TransactionExpired,
            at: None,
            source: None,
        }))
    }

    /// An error is completed by its maker, before anyone else can hold it.
    fn inner(&mut self) -> &mut Inner {
        Arc::get_mut(&mut self.0).expect("an error is completed before it is shared")
    }

    pub(crate) fn with_source(
        mut self,
        source: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        self.inner().source = Some(source.into());
        self
    }

    pub(crate) fn at(mut self, collection: &str, path: Option<&str>, id: Option<RawBson>) -> Self {
        self.inner().at = Some(Place {
            collection: collection.to_owned(),
            path: path.map(str::to_owned),
            id,
        });
        self
    }

    /// A document that came from outside cannot be read as BSON.
    pub(crate) fn malformed(error: bson::error::Error) -> Self {
        Error::new(ErrorKind::Encode, "a document is not well-formed BSON").with_source(error)
    }

    /// The error of an `_id` that another document has.
    pub(crate) fn duplicate_id(collection: &str, id: RawBsonRef<'_>) -> Self {
        let id = RawBson::from(id);
        let message = format!(
            "`{collection}` has a document with `_id` = {} already",
            show(&id)
        );
        Error::new(ErrorKind::DuplicateKey, message).at(collection, Some("_id"), Some(id))
    }

    /// No document has any of these `_id`s.
    pub(crate) fn not_found(collection: &str, ids: &[&RawBson]) -> Self {
        /// How many the message names.
        const NAMED: usize = 20;
        let mut names: Vec<String> = ids.iter().take(NAMED).map(|id| show(id)).collect();
        if ids.len() > NAMED {
            names.push(format!("and {} more", ids.len() - NAMED));
        }
        let names = names.join(", ");
        let message = format!("`{collection}` has no document with the `_id` {names}");
        let first = ids.first().map(|&id| id.clone());
        Error::new(ErrorKind::NotFound, message).at(collection, None, first)
    }

    /// The class of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What the error is about, where that is one document, field or index.
    pub fn place(&self) -> Option<&Place> {
        self.0.at.as_ref()
    }

    /// Whether the same call may succeed if it is made again.
    pub fn is_retryable(&self) -> bool {
        self.0.retryable
    }

    /// No document matches where one was asked for.
    pub fn is_not_found(&self) -> bool {
        self.kind() == ErrorKind::NotFound
    }

    /// The `_id`, or the key of a unique index, is taken.
    pub fn is_duplicate_key(&self) -> bool {
        self.kind() == ErrorKind::DuplicateKey
    }

    /// A reference leads nowhere.
    pub fn is_dangling_reference(&self) -> bool {
        self.kind() == ErrorKind::DanglingReference
    }

    /// Other documents still refer to the one that was to be deleted.
    pub fn is_restricted(&self) -> bool {
        self.kind() == ErrorKind::Restricted
    }

    /// The document was changed since it was read.
    pub fn is_stale(&self) -> bool {
        self.kind() == ErrorKind::Stale
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Error");
        debug
            .field("kind", &self.0.kind)
            .field("message", &self.0.message);
        if let Some(at) = &self.0.at {
            debug.field("at", at);
        }
        if let Some(source) = &self.0.source {
            debug.field("source", source);
        }
        debug.finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

impl From<crate::mql::Error> for Error {
    fn from(error: crate::mql::Error) -> Self {
        let kind = if error.is_about_document() {
            ErrorKind::InvalidUpdate
        } else {
            ErrorKind::InvalidQuery
        };
        Error::new(kind, error.to_string()).with_source(error)
    }
}

/// For messages: a value as it would be written in a query.
pub(crate) fn show(value: &RawBson) -> String {
    match bson::Bson::try_from(value.clone()) {
        Ok(value) => value.to_string(),
        Err(_) => "an unreadable value".to_owned(),
    }
}
