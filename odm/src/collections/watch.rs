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
use odm_store::{Cause, Result, ResumeToken, WatchRequest};

use super::Collection;
use crate::{
    repository::WATCH_BUFFER,
    session::{MatchingChanges, Session},
};

/// A watch that has not begun, from [`Collection::watch`]. Awaiting it returns the stream of changes, which begins then.
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
    pub fn buffer(mut self, commits: usize) -> Self {
        self.request.buffer = commits;
        self
    }

    /// Goes on after a change that another watch has shown, as [`Watch::resume_after`](crate::repository::Watch::resume_after) does.
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
            self.session.follow_catalog().await?;
            let changes = self.session.watch_matching(self.request).await?;
            Ok(DocumentChanges(changes))
        })
    }
}

/// A committed change of a document, as it is stored.
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
#[must_use = "a stream does nothing unless it is polled"]
pub struct DocumentChanges(MatchingChanges);

impl DocumentChanges {
    /// The place after the last change that was taken, or else the start of the stream.
    pub fn token(&self) -> &ResumeToken {
        &self.0.token
    }

    /// Waits for the next change. `None` when the store is closed. Dropping the future loses nothing.
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
