//! Watches of a store's collections: requests and changes.

use std::{fmt, sync::Arc};

use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use futures_core::stream::BoxStream;
use odm_mql::{Filter, path};
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};

/// A place in the changes of a collection, at which another watch can go on: see
/// `resume_after`.
///
/// It is a short text in the form of the store, without line breaks: a program may keep it in a file, or give it to a client, such as by
/// the `id` of a server-sent event. It has no secret, and a text that is not a token is an error of the watch.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::store::ResumeToken;
///
/// let changes = shop.parts.watch(Filter::all()).await?;
/// let kept: String = changes.token().to_string();
/// drop(changes);
///
/// shop.parts.delete(3).await?;
/// let mut changes = shop.parts.watch(Filter::all()).resume_after(ResumeToken::from(kept)).await?;
/// assert_eq!(changes.try_next().await?.unwrap().id, 3);
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResumeToken(String);

impl ResumeToken {
    /// The token as text.
    ///
    /// ```
    /// use odm::store::ResumeToken;
    ///
    /// let stored = String::from("of an earlier run"); // by `as_str`
    /// assert_eq!(ResumeToken::from(stored.clone()).as_str(), stored);
    /// ```
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The error of a watch by a text that the store has not made.
    #[doc(hidden)]
    pub fn invalid(&self, collection: &str) -> Error {
        let message = format!(
            "watch of `{collection}` refused: `{self}` is no resume token of this store; take one from `token` of a change or of \
             a stream of changes"
        );
        Error::new(ErrorKind::InvalidQuery, message)
    }

    /// The error of a watch from a place whose following changes are gone.
    #[doc(hidden)]
    pub fn too_old(collection: &str, why: &str) -> Error {
        let message = format!(
            "watch of `{collection}` cannot go on where its token is: {why}; read the documents again, and watch anew"
        );
        Error::new(ErrorKind::Lagged, message).at(collection, None, None)
    }
}

impl From<String> for ResumeToken {
    fn from(token: String) -> Self {
        ResumeToken(token)
    }
}

impl fmt::Display for ResumeToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A request to a [store](crate::Store::watch) to watch a collection.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WatchRequest {
    /// The collection.
    pub collection: String,
    /// A store MAY leave out changes of documents that match it neither before nor after.
    pub filter: Filter,
    /// How many commits are kept for a slow reader, by a store that keeps them in memory.
    pub buffer: usize,
    /// Where the watch goes on. `None` if it begins with the commits after this call.
    pub after: Option<ResumeToken>,
}

impl WatchRequest {
    /// Creates a request.
    pub fn new(
        collection: impl Into<String>,
        filter: Filter,
        buffer: usize,
        after: Option<ResumeToken>,
    ) -> Self {
        WatchRequest {
            collection: collection.into(),
            filter,
            buffer,
            after,
        }
    }
}

/// A watch that has begun.
#[non_exhaustive]
pub struct StoreWatch {
    /// Where it has begun.
    pub token: ResumeToken,
    /// The changes in the order of commits. An error is an item, after which the stream goes on if it can.
    pub changes: BoxStream<'static, Result<WatchedChange>>,
}

impl StoreWatch {
    /// Creates a watch.
    pub fn new(token: ResumeToken, changes: BoxStream<'static, Result<WatchedChange>>) -> Self {
        StoreWatch { token, changes }
    }
}

impl fmt::Debug for StoreWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreWatch")
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}

/// A step of a watch.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WatchedChange {
    /// `None` if no watched document has changed up to the place.
    pub change: Option<DocumentChange>,
    /// The place after it.
    pub token: ResumeToken,
}

impl WatchedChange {
    /// Creates a step.
    pub fn new(change: Option<DocumentChange>, token: ResumeToken) -> Self {
        WatchedChange { change, token }
    }
}

/// The change of a document by a commit.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DocumentChange {
    /// `None` if the commit inserted it.
    pub before: Option<Arc<RawDocumentBuf>>,
    /// `None` if the commit removed it.
    pub after: Option<Arc<RawDocumentBuf>>,
    /// Why it has changed.
    pub cause: Cause,
    /// Whether a write has given it all fields of another document, in the place of changing some. A store that takes its changes from a
    /// server leaves it false.
    pub is_replaced: bool,
}

impl DocumentChange {
    /// Creates a change.
    pub fn new(
        before: Option<Arc<RawDocumentBuf>>,
        after: Option<Arc<RawDocumentBuf>>,
        cause: Cause,
    ) -> Self {
        DocumentChange {
            before,
            after,
            cause,
            is_replaced: false,
        }
    }

    /// The newest image of the document.
    fn newest(&self) -> Option<&RawDocument> {
        let image = self.after.as_ref().or(self.before.as_ref());
        image.map(|image| &***image)
    }

    /// The `_id` of the document.
    #[doc(hidden)]
    pub fn id(&self) -> RawBsonRef<'_> {
        let id = self.newest().and_then(|image| path::get(image, "_id"));
        id.unwrap_or(RawBsonRef::Null)
    }

    pub(super) fn is_different(&self) -> bool {
        let before = self.before.as_ref().map(|before| before.as_bytes());
        before != self.after.as_ref().map(|after| after.as_bytes())
    }

    pub(super) fn size(&self) -> usize {
        let images = [&self.before, &self.after].into_iter().flatten();
        images.map(|image| image.as_bytes().len()).sum()
    }
}

/// Why a document has changed.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::store::Cause;
///
/// let mut changes = shop.products.watch(Filter::all()).await?;
/// shop.reviews.delete(4).await?;
/// let change = changes.try_next().await?.expect("the store is open");
/// assert_eq!(change.cause, Cause::Relation); // the list of reviews has followed
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A write named the document, or its filter matched it.
    Write,
    /// It follows from a write of another document, or from a backfill or a repair: a delete rule, an inverse
    /// reference, a derived field.
    Relation,
    /// One of the two: on a server, which does not record it, a delete and a change of references that a relation can make too.
    Unknown,
}
