//! The classes of errors.

use std::fmt;

/// The class of an [`Error`](crate::Error).
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::ErrorKind;
///
/// // The answer of a web service. The message names collections and indexes, and is for its log.
/// let status = |error: &odm::Error| match error.kind() {
///     ErrorKind::NotFound => 404,
///     ErrorKind::DuplicateKey | ErrorKind::Restricted | ErrorKind::DanglingReference => 409,
///     ErrorKind::Stale => 412,
///     ErrorKind::InvalidRequest => 400,
///     ErrorKind::Invalid => 422,
///     _ => 500,
/// };
/// assert_eq!(status(&shop.parts.get(99).await.unwrap_err()), 404);
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No document matches a query that must find one.
    NotFound,
    /// Several documents match a query that must find one.
    NotUnique,
    /// The `_id`, or the key of a unique index, is taken.
    DuplicateKey,
    /// A reference that the write adds is dangling.
    DanglingReference,
    /// A delete is refused, since other documents still refer to the document.
    Restricted,
    /// The document was changed since it was read.
    Stale,
    /// A filter, update, sort, projection or setting is invalid, or uses an operator that the store lacks.
    InvalidQuery,
    /// A request, as of `FromRequest`, names a field or operator that does not exist, or has a value of another type; or a `Cursor` is no
    /// position in the query.
    InvalidRequest,
    /// An update cannot be applied to a document that matches it.
    InvalidUpdate,
    /// A filter fails on a document, so that it is not known whether the document matches: a regular
    /// expression ran into its limit, or an expression into an error.
    FailedFilter,
    /// A derived field would have a value that its type cannot hold, such as a sum of more than 64 bits, or would follow from a value
    /// that cannot be calculated with.
    Uncomputable,
    /// The models do not fit together, or not with the store.
    Schema,
    /// A collection is being migrated to a newer version of its models. The error is
    /// [retryable](crate::Error::is_retryable).
    Migrating,
    /// A step of a migration fails on a document.
    FailedMigration,
    /// A document does not conform to the schema of its collection, or to a check of its model.
    Invalid,
    /// A value cannot be written as BSON.
    Encode,
    /// A stored document cannot be read as the type that was asked for.
    Decode,
    /// The input of an import is not an export of the database, or is incomplete; or the files of an import have no documents in a
    /// supported format.
    InvalidImport,
    /// A document or a unit of work is larger than the limit, or a unit of work takes longer.
    Limit,
    /// The transaction ran longer than the limit, and was rolled back. The error is not
    /// [retryable](crate::Error::is_retryable) if the transaction seems to await a write outside of it.
    TransactionExpired,
    /// The transaction was aborted, since an operation in it failed.
    TransactionAborted,
    /// A read or a write outside the transaction that the same task is in.
    OutsideTransaction,
    /// A write in a snapshot, or in a store that was opened to be read only. Or such a store, or a database on it, cannot be opened without a
    /// write.
    ReadOnly,
    /// A read in a snapshot after the end of its closure, or of a state that the server of the
    /// store has no longer, after which the error is [retryable](crate::Error::is_retryable).
    SnapshotEnded,
    /// A watch has missed changes, since it was read too slowly, or since the store does not keep them as long.
    Lagged,
    /// The store was closed, or its writer has failed.
    Closed,
    /// Another process has the file open.
    Locked,
    /// The file is not a store, is of another format version, or is damaged.
    Corrupt,
    /// The operating system reported an error.
    Io,
    /// The server of the store refuses a command, as for a missing privilege of its user, or a limit of its own. Nothing is stored.
    Refused,
    /// The server of the store cannot be reached, or failed. The error of a write is [retryable](crate::Error::is_retryable) if nothing of
    /// the write is stored. If it is not retryable, the write may be stored or not.
    Unavailable,
}

/// The name of the variant, as for a label of a metric or a field of a log.
impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
