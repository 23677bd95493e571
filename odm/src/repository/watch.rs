//! Watches: the changes of documents as they are committed.

use std::{
    collections::VecDeque,
    fmt,
    future::{IntoFuture, poll_fn},
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bson::{RawBson, RawBsonRef, RawDocument};
use futures_core::{Stream, stream::BoxStream};
use futures_util::stream::{StreamExt, unfold};
use tokio::sync::broadcast::error::RecvError;

use super::{Deferred, impl_debug, rows};
use crate::{
    error::{Error, ErrorKind, Result},
    model::{Document, Ref},
    mql::{self, path},
    query::Filter,
    session::{Session, Watched},
    store::{Cause, DocumentChange, WatchedCommit},
};

/// How many commits a watch keeps for its reader, unless [`Watch::buffer`] says otherwise.
const BUFFER: usize = 1024;

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
    model: PhantomData<fn() -> M>,
}

impl<M: Document> Watch<M> {
    pub(super) fn new(session: Session, filter: Filter<M>) -> Self {
        Watch {
            session,
            filter: filter.into_mql(),
            buffer: BUFFER,
            model: PhantomData,
        }
    }

    /// Sets how many commits are kept for a reader who is slow: 1,024 by default, and at least 1. The number is
    /// rounded up to a power of two. A commit that changes nothing in the collection does not count.
    ///
    /// They are kept in memory with all documents that they have changed in the collection, as they were and as
    /// they are, those that do not match the filter included.
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
}

impl_debug!(Watch<M>: filter, buffer);

impl<M: Document> IntoFuture for Watch<M> {
    type Output = Result<ChangeStream<M>>;
    type IntoFuture = Deferred<ChangeStream<M>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let filter = self.filter?;
            let session = self.session;
            let watched = session.watch(M::COLLECTION, &filter, self.buffer).await?;
            Ok(ChangeStream {
                commits: commits(M::COLLECTION, watched),
                changes: VecDeque::new(),
                filter,
                model: PhantomData,
            })
        })
    }
}

/// The commits of a collection, and an error in the place of those that were missed.
fn commits(
    collection: &'static str,
    watched: Watched,
) -> BoxStream<'static, Result<WatchedCommit>> {
    let commits = unfold(watched, move |(watch, mut commits)| async move {
        let commit = match commits.recv().await {
            Ok(commit) => Ok(commit),
            Err(RecvError::Closed) => return None,
            Err(RecvError::Lagged(missed)) => {
                let message = format!(
                    "watch of `{collection}` fell behind: it has missed {missed} commits, and goes on with the \
                     oldest one that is kept; read faster, or raise `buffer`"
                );
                Err(Error::new(ErrorKind::Lagged, message).at(collection, None, None))
            }
        };
        Some((commit, (watch, commits)))
    });
    Box::pin(commits.fuse())
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
    /// Whether a write named the document, or the change follows from a relation. If both, it is the write.
    pub cause: Cause,
}

/// The changes of a collection as they are committed, from [`Repository::watch`](super::Repository::watch).
///
/// It is a [`Stream`], so that the adapters of `futures_util` work on it; [`next`](ChangeStream::next) and
/// [`try_next`](ChangeStream::try_next) need none. It ends when the store is closed. Dropping it ends the watch.
///
/// An error is an item, and the stream goes on after it: `Lagged` in the place of commits that were missed, `Decode`
/// in the place of a change whose document cannot be read as the model, `FailedFilter` where the filter fails on one.
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
    commits: BoxStream<'static, Result<WatchedCommit>>,
    /// The changes of the last commit that are not taken yet.
    changes: VecDeque<DocumentChange>,
    filter: mql::Filter,
    model: PhantomData<fn() -> M>,
}

impl<M: Document> ChangeStream<M> {
    /// The change as its model, if it matches.
    fn event(&self, change: &DocumentChange) -> Option<Result<ChangeEvent<M>>> {
        let images = [&change.before, &change.after];
        for image in images.into_iter().flatten() {
            match self.filter.matches(image) {
                Ok(true) => return Some(event(change)),
                Ok(false) => {}
                Err(error) => {
                    return Some(Err(Error::failed_filter(M::COLLECTION, id(image), error)));
                }
            }
        }
        None
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

fn event<M: Document>(change: &DocumentChange) -> Result<ChangeEvent<M>> {
    let image = change.after.as_ref().or(change.before.as_ref());
    let id = image.map_or(RawBson::Null, |image| RawBson::from(id(image)));
    let read = |image: &RawDocument| rows::decode(M::COLLECTION, image);
    // As a reference to it is read: the type alone does not say in which form it is stored.
    let id = rows::value::<Ref<M>, _>(M::COLLECTION, "_id", id)?;
    Ok(ChangeEvent {
        id: id.id().clone(),
        before: change
            .before
            .as_deref()
            .map(|image| read(image))
            .transpose()?,
        after: change
            .after
            .as_deref()
            .map(|image| read(image))
            .transpose()?,
        cause: change.cause,
    })
}

fn id(document: &RawDocument) -> RawBsonRef<'_> {
    path::get(document, "_id").unwrap_or(RawBsonRef::Null)
}

impl<M: Document> Stream for ChangeStream<M> {
    type Item = Result<ChangeEvent<M>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            while let Some(change) = self.changes.pop_front() {
                if let Some(event) = self.event(&change) {
                    return Poll::Ready(Some(event));
                }
            }
            match ready!(self.commits.as_mut().poll_next(cx)) {
                Some(Ok(commit)) => self.changes.extend(commit.iter().cloned()),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
    }
}

impl<M> fmt::Debug for ChangeStream<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChangeStream")
            .field("filter", &self.filter)
            .finish_non_exhaustive()
    }
}

impl<M> Unpin for ChangeStream<M> {}
