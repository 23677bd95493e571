//! Watches: the changes of documents as they are committed.

use std::{
    fmt,
    future::{IntoFuture, poll_fn},
    marker::PhantomData,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bson::{RawBson, RawDocumentBuf};
use futures_core::{Stream, future::BoxFuture};
use odm_mql as mql;
use odm_store::{Cause, DocumentChange, Result, ResumeToken, WatchRequest};

use super::{impl_debug, rows};
use crate::{
    model::{Document, Ref},
    query::Filter,
    session::{MatchingChanges, Session},
};

/// How many commits a watch keeps for its reader, unless [`Watch::buffer`] says otherwise.
pub(crate) const BUFFER: usize = 1024;

/// A watch that has not begun, from [`Repository::watch`](super::Repository::watch). Awaiting it returns the stream
/// of changes, which begins then.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use futures_util::StreamExt;
///
/// let mut changes = shop.reviews.watch(Review::fields().stars.lt(3)).buffer(64).await?;
/// shop.reviews.update(2).set(Review::fields().stars, 2).await?;
/// let complaint = changes.next().await.expect("the store is open")?;
/// assert_eq!(complaint.after.unwrap().text, "Wobbles");
/// # Ok(()) });
/// ```
#[must_use = "a watch does nothing until it is awaited"]
pub struct Watch<M> {
    session: Session,
    filter: Result<mql::Filter>,
    buffer: usize,
    after: Option<ResumeToken>,
    model: PhantomData<fn() -> M>,
}

impl<M: Document> Watch<M> {
    pub(super) fn new(session: Session, filter: Filter<M>) -> Self {
        Watch {
            session,
            filter: filter.into_mql(),
            buffer: BUFFER,
            after: None,
            model: PhantomData,
        }
    }

    /// Sets how many commits are kept for a slow reader: 1,024 by default, and at least 1. A commit that changes nothing in the collection
    /// does not count.
    ///
    /// They are kept in memory with all documents that they have changed in the collection, before and after, also if the documents do not
    /// match the filter. A MongoDB server keeps them itself, in its oplog, and the number is not used.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // Somebody who reads slowly, and keeps up with up to 4,096 commits.
    /// let mut changes = shop.parts.watch(Filter::all()).buffer(4096).await?;
    /// # shop.close().await?;
    /// # assert!(changes.next().await.is_none());
    /// # Ok(()) });
    /// ```
    pub fn buffer(mut self, commits: usize) -> Self {
        self.buffer = commits;
        self
    }

    /// Goes on after a change that another watch of the same collection has shown, by its [`token`](ChangeEvent::token): the changes
    /// committed meanwhile come first. So a client that was away misses nothing.
    ///
    /// On the embedded store a token is good until the store is closed, as long as the changes since are kept: the newest
    /// 1,024 commits at least (less if their documents have more than 8 MiB), while the collection is watched and for a minute
    /// after the last watch has ended. On a MongoDB server it is good for as long as its oplog goes back, and in every process.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let mut changes = shop.parts.watch(Filter::all()).await?;
    /// shop.parts.update_where(Part::fields().id.lte(2)).inc(Part::fields().qty, 1).await?;
    /// let seen = changes.try_next().await?.expect("the store is open").token;
    /// drop(changes); // the client has lost its connection
    ///
    /// shop.parts.update(3).inc(Part::fields().qty, 1).await?;
    /// let mut changes = shop.parts.watch(Filter::all()).resume_after(seen).await?;
    /// assert_eq!(changes.try_next().await?.unwrap().id, 2);
    /// assert_eq!(changes.try_next().await?.unwrap().id, 3);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// When the watch is awaited: `Lagged` if the changes after the token are gone, and `InvalidQuery` if the store has not made it.
    pub fn resume_after(mut self, token: ResumeToken) -> Self {
        self.after = Some(token);
        self
    }
}

impl_debug!(Watch<M>: filter, buffer, after);

impl<M: Document> IntoFuture for Watch<M> {
    type Output = Result<ChangeStream<M>>;
    type IntoFuture = BoxFuture<'static, Result<ChangeStream<M>>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let filter = self.filter?;
            let request = WatchRequest::new(M::COLLECTION, filter, self.buffer, self.after);
            Ok(ChangeStream {
                changes: self.session.watch_matching(request).await?,
                model: PhantomData,
            })
        })
    }
}

/// A committed change of a document.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::store::Cause;
///
/// let mut changes = shop.products.watch(Filter::all()).await?;
/// shop.reviews.delete(4).await?;
/// let change = changes.try_next().await?.expect("the store is open");
/// // Nobody wrote to the lamp: its list of reviews has followed.
/// assert_eq!((change.id, change.cause), (2, Cause::Relation));
/// assert!(change.after.unwrap().reviews.is_empty());
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ChangeEvent<M: Document> {
    /// The `_id` of the document.
    pub id: M::Id,
    /// The document before the commit; `None` if the commit inserted it.
    pub before: Option<M>,
    /// The document after the commit; `None` if the commit removed it.
    pub after: Option<M>,
    /// The cause: a write that named the document, or a relation. If both apply, it is the write.
    pub cause: Cause,
    /// The place after the change, for [`resume_after`](Watch::resume_after).
    pub token: ResumeToken,
}

/// The changes of a collection as they are committed, from [`Repository::watch`](super::Repository::watch).
///
/// On the embedded store, a change is the total effect of a commit on a document. On a MongoDB server each statement of a transaction is a
/// change, after the commit: see "Differences" in the page about MongoDB.
///
/// It is a [`Stream`], so that the adapters of `futures_util` work on it; [`next`](ChangeStream::next) and
/// [`try_next`](ChangeStream::try_next) work without them. It ends when the store is closed. Dropping it ends the watch.
///
/// An error is an item, and the stream goes on after it: `Lagged` in the place of commits that were missed, `Decode`
/// in the place of a change whose document cannot be read as the model, `FailedFilter` if the filter fails on a document.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use futures_util::TryStreamExt;
///
/// let changes = shop.parts.watch(Filter::all()).await?;
/// shop.parts.delete(3).await?;
/// shop.close().await?; // else it waits for more
/// let gone: Vec<_> = changes.try_filter_map(async |change| Ok(change.before)).try_collect().await?;
/// assert_eq!(gone[0].name, "washer");
/// # Ok(()) });
/// ```
#[must_use = "a stream does nothing unless it is polled"]
pub struct ChangeStream<M> {
    changes: MatchingChanges,
    model: PhantomData<fn() -> M>,
}

impl<M: Document> ChangeStream<M> {
    /// The place after the last change that was taken, or else the start of the stream.
    ///
    /// A program that reads the documents after it has begun to watch them keeps a copy of the collection: a change that the read included
    /// already is applied once more, with the same result.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let changes = shop.parts.watch(Filter::all()).await?;
    /// let begun = changes.token().clone();
    /// let copy = shop.parts.all().await?; // it has all that was committed before `begun`
    /// # assert_eq!(copy.len(), 3);
    /// # drop((changes, begun));
    /// # Ok(()) });
    /// ```
    pub fn token(&self) -> &ResumeToken {
        &self.changes.token
    }

    /// Waits for the next change. `None` when the store is closed.
    ///
    /// Dropping the future loses nothing.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let mut changes = shop.parts.watch(Filter::all()).await?;
    /// shop.parts.delete(3).await?;
    /// let change = changes.next().await.expect("the store is open")?;
    /// assert!(change.after.is_none());
    /// # Ok(()) });
    /// ```
    pub async fn next(&mut self) -> Option<Result<ChangeEvent<M>>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Waits for the next change, as [`next`](ChangeStream::next) does, for `while let Some(change) =
    /// changes.try_next().await?`. After an error, another call goes on.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let mut changes = shop.parts.watch(Part::fields().qty.eq(0)).await?;
    /// # shop.parts.update(2).set(Part::fields().qty, 0).await?;
    /// # shop.close().await?;
    /// while let Some(change) = changes.try_next().await? {
    ///     println!("sold out: {}", change.after.map_or("gone".into(), |part| part.name));
    /// }
    /// # Ok(()) });
    /// ```
    pub async fn try_next(&mut self) -> Result<Option<ChangeEvent<M>>> {
        self.next().await.transpose()
    }
}

fn event<M: Document>(change: &DocumentChange, token: ResumeToken) -> Result<ChangeEvent<M>> {
    let read = |image: &Option<Arc<RawDocumentBuf>>| {
        let image = image.as_deref();
        let read = |image: &RawDocumentBuf| rows::decode(M::COLLECTION, image);
        image.map(read).transpose()
    };
    // Reads the `_id` like a reference to it: the type alone does not determine its stored form.
    let id = rows::value::<Ref<M>, _>(M::COLLECTION, "_id", RawBson::from(change.id()))?;
    Ok(ChangeEvent {
        id: id.id().clone(),
        before: read(&change.before)?,
        after: read(&change.after)?,
        cause: change.cause,
        token,
    })
}

impl<M: Document> Stream for ChangeStream<M> {
    type Item = Result<ChangeEvent<M>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let change = ready!(self.changes.poll_next(cx));
        let token = || self.changes.token.clone();
        Poll::Ready(change.map(|change| event(&change?, token())))
    }
}

impl<M> fmt::Debug for ChangeStream<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChangeStream").finish_non_exhaustive()
    }
}

impl<M> Unpin for ChangeStream<M> {}
