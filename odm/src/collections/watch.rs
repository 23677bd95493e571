//! Watches of collections by their names.

use std::{
    fmt,
    future::{IntoFuture, poll_fn},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bson::{RawBson, RawDocumentBuf};
use futures_core::{Stream, future::BoxFuture};
use odm_mql::Filter;
use odm_store::{Cause, Error, ErrorKind, Result, ResumeToken, WatchRequest};

use super::Collection;
use crate::{
    catalog,
    repository::WATCH_BUFFER,
    session::{MatchingChanges, Session},
};

/// A watch that has not begun, from [`Collection::watch`]. Awaiting it returns the stream of changes, which begins then.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::{Collections, bson::doc, mql::Filter};
///
/// let bad = Filter::parse(&doc! { "stars": { "$lt": 3 } })?;
/// let mut changes = Collections::of(&shop).collection("reviews").watch(bad).await?;
/// shop.reviews.update(2).set(Review::fields().stars, 1).await?;
/// assert!(changes.try_next().await?.is_some());
/// # Ok(()) });
/// ```
#[derive(Debug, Clone)]
#[must_use = "a watch does nothing until it is awaited"]
pub struct WatchDocuments {
    session: Session,
    request: WatchRequest,
}

impl WatchDocuments {
    pub(super) fn new(collection: &Collection, filter: Filter) -> Self {
        WatchDocuments {
            session: collection.session.clone(),
            request: WatchRequest::new(collection.name.clone(), filter, WATCH_BUFFER, None),
        }
    }

    /// Sets how many commits are kept for a slow reader, as [`Watch::buffer`](crate::repository::Watch::buffer) does.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, mql::Filter};
    ///
    /// let changes = Collections::of(&shop).collection("parts").watch(Filter::default()).buffer(4096).await?;
    /// # Ok(()) });
    /// ```
    pub fn buffer(mut self, commits: usize) -> Self {
        self.request.buffer = commits;
        self
    }

    /// Goes on after a change that another watch has shown, as [`Watch::resume_after`](crate::repository::Watch::resume_after) does.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, mql::Filter};
    ///
    /// let parts = Collections::of(&shop).collection("parts");
    /// let seen = parts.watch(Filter::default()).await?.token().clone();
    /// shop.parts.update(1).inc(Part::fields().qty, 1).await?;
    /// let mut changes = parts.watch(Filter::default()).resume_after(seen).await?;
    /// assert!(changes.try_next().await?.is_some());
    /// # Ok(()) });
    /// ```
    pub fn resume_after(mut self, token: ResumeToken) -> Self {
        self.request.after = Some(token);
        self
    }
}

impl IntoFuture for WatchDocuments {
    type Output = Result<DocumentChanges>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            // The library writes to its own collections past the feed.
            if catalog::is_own(&self.request.collection) {
                let message = format!(
                    "watch of `{}` refused: it is the library's own collection",
                    self.request.collection
                );
                return Err(Error::new(ErrorKind::InvalidQuery, message));
            }
            self.session.follow_catalog().await?;
            let changes = self.session.watch_matching(self.request).await?;
            Ok(DocumentChanges(changes))
        })
    }
}

/// A committed change of a document, as it is stored.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::{Collections, mql::Filter, store::Cause};
///
/// let mut changes = Collections::of(&shop).collection("reviews").watch(Filter::default()).await?;
/// shop.reviews.delete(1).await?;
/// let change = changes.try_next().await?.expect("the store is open");
/// assert!(change.before.is_some() && change.after.is_none());
/// assert_eq!(change.cause, Cause::Write);
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DocumentEvent {
    /// The `_id` of the document.
    pub id: RawBson,
    /// The document before the commit; `None` if the commit inserted it.
    pub before: Option<Arc<RawDocumentBuf>>,
    /// The document after the commit; `None` if the commit removed it.
    pub after: Option<Arc<RawDocumentBuf>>,
    /// The cause: a write that named the document, or a relation. If both apply, it is the write.
    pub cause: Cause,
    /// The place after the change, for [`resume_after`](WatchDocuments::resume_after).
    pub token: ResumeToken,
}

/// The changes of a collection as they are committed, from [`Collection::watch`].
///
/// It is a [`Stream`], which ends when the store is closed. An error is an item, and the stream goes on after it: `Lagged` in the place of
/// commits that were missed, `FailedFilter` if the filter fails on a document.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::{Collections, mql::Filter};
///
/// let mut changes = Collections::of(&shop).collection("orders").watch(Filter::default()).await?;
/// shop.close().await?;
/// while let Some(change) = changes.try_next().await? {
///     println!("{:?}", change.id);
/// }
/// # Ok(()) });
/// ```
#[must_use = "a stream does nothing unless it is polled"]
pub struct DocumentChanges(MatchingChanges);

impl DocumentChanges {
    /// The place after the last change that was taken, or else the start of the stream.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, mql::Filter};
    ///
    /// let mut changes = Collections::of(&shop).collection("parts").watch(Filter::default()).await?;
    /// shop.parts.update(1).inc(Part::fields().qty, 1).await?;
    /// let change = changes.try_next().await?.expect("the store is open");
    /// assert_eq!(changes.token(), &change.token);
    /// # Ok(()) });
    /// ```
    pub fn token(&self) -> &ResumeToken {
        &self.0.token
    }

    /// Waits for the next change. `None` when the store is closed. Dropping the future loses nothing.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::RawBson, mql::Filter};
    ///
    /// let mut changes = Collections::of(&shop).collection("parts").watch(Filter::default()).await?;
    /// shop.parts.update(2).inc(Part::fields().qty, 1).await?;
    /// let change = changes.try_next().await?.expect("the store is open");
    /// assert_eq!(change.id, RawBson::Int64(2));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors in the stream. Another call goes on after one.
    pub async fn try_next(&mut self) -> Result<Option<DocumentEvent>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx))
            .await
            .transpose()
    }
}

impl Stream for DocumentChanges {
    type Item = Result<DocumentEvent>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let change = ready!(self.0.poll_next(cx));
        let token = || self.0.token.clone();
        Poll::Ready(change.map(|change| {
            change.map(|change| DocumentEvent {
                id: change.id().into(),
                before: change.before,
                after: change.after,
                cause: change.cause,
                token: token(),
            })
        }))
    }
}

impl fmt::Debug for DocumentChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DocumentChanges").finish_non_exhaustive()
    }
}
