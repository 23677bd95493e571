//! Streams of documents.

use std::{
    collections::VecDeque,
    fmt,
    future::poll_fn,
    marker::PhantomData,
    ops::ControlFlow,
    pin::Pin,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use bson::RawBson;
use futures_core::{Stream, future::BoxFuture};
use odm_mql as mql;
use odm_store::{Cost, Error, ErrorKind, Find, Result};
use serde::de::DeserializeOwned;

use super::{
    rows::decode_in,
    semi_join::{self, SemiJoin, Unresolved},
};
use crate::{
    session::{ReadView, Session},
    trace::Operation,
};

/// How long a stream keeps one state of the data.
const SNAPSHOT_LIFE: Duration = Duration::from_secs(10);

/// The size of the first chunk, which is small so that the first document comes soon.
const FIRST_CHUNK: u64 = 100;

/// The size of later chunks.
const CHUNK: u64 = 1_000;

/// A stream of documents, from [`Query::stream`](super::Query::stream).
///
/// It is a [`Stream`], so that the adapters of `futures_util` work on it; [`next`](DocumentStream::next) and
/// [`try_next`](DocumentStream::try_next) work without them.
///
/// A document that cannot be read is an error of the kind `Decode` in its place, and the stream goes on with
/// the next one; any other error is the last item.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use futures_util::TryStreamExt;
///
/// let names = shop.parts.all().stream().map_ok(|part| part.name);
/// assert_eq!(names.try_collect::<Vec<_>>().await?, ["bolt", "nut", "washer"]);
/// # Ok(()) });
/// ```
#[must_use = "a stream does nothing unless it is polled"]
pub struct DocumentStream<T> {
    state: StreamState<T>,
    snapshot: bool,
    types: PhantomData<fn() -> T>,
}

enum StreamState<T> {
    Ready(Result<Box<Chunks>>, VecDeque<Result<T>>),
    Reading(BoxFuture<'static, Result<ReadChunk<T>>>),
    Done,
}

/// The rows of a chunk that was read, and the chunks after it.
type ReadChunk<T> = (Box<Chunks>, VecDeque<Result<T>>);

/// The chunks of a stream as they are read.
struct Chunks {
    session: Session,
    find: Find,
    /// The filter before its semi-joins are resolved, which happens once for each state of the data.
    filter: mql::Filter,
    semi_joins: Vec<SemiJoin>,
    is_resolved: bool,
    load: Vec<&'static str>,
    /// How many documents the limit leaves.
    left: Option<u64>,
    /// The size of the next chunk.
    size: u64,
    /// The state of the data that is kept for the next chunks, and since when.
    held: Option<(ReadView<'static>, Instant)>,
    ended: bool,
}

impl<T> DocumentStream<T> {
    /// The documents that a query finds, without its projection.
    pub(crate) fn of_find(session: Session, find: Find) -> Self {
        let semi_joins = Vec::new();
        DocumentStream::new(session, Ok(Unresolved { find, semi_joins }), Vec::new())
    }

    pub(super) fn new(
        session: Session,
        query: Result<Unresolved>,
        load: Vec<&'static str>,
    ) -> Self {
        let chunks = query.map(|query| {
            let Unresolved {
                mut find,
                semi_joins,
            } = query;
            // Each chunk starts after the sort key of the last document, which a projection could
            // leave out.
            find.projection = None;
            let left = find.limit;
            Box::new(Chunks {
                session,
                filter: find.filter.clone(),
                find,
                is_resolved: semi_joins.is_empty(),
                semi_joins,
                load,
                left,
                size: FIRST_CHUNK,
                held: None,
                ended: false,
            })
        });
        DocumentStream {
            state: StreamState::Ready(chunks, VecDeque::new()),
            snapshot: false,
            types: PhantomData,
        }
    }

    /// Reads all documents from one state of the data. A stream that outlives this state ends with an
    /// error, instead of continuing on a newer one.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // The sum over all parts of one moment, whatever is sold meanwhile.
    /// let mut parts = shop.parts.all().stream().snapshot();
    /// let mut value = 0.0;
    /// while let Some(part) = parts.try_next().await? {
    ///     value += part.price * part.qty as f64;
    /// }
    /// assert_eq!(value, 15.25);
    /// # Ok(()) });
    /// ```
    pub fn snapshot(mut self) -> Self {
        self.snapshot = true;
        self
    }
}

impl<T> DocumentStream<T> {
    /// Lets go of the state of the data until the next chunk, which may be of a newer one.
    pub(crate) fn release(&mut self) {
        if let StreamState::Ready(Ok(chunks), _) = &mut self.state {
            chunks.held = None;
        }
    }
}

impl Chunks {
    async fn next<T>(mut self: Box<Self>, snapshot: bool) -> Result<ReadChunk<T>>
    where
        T: DeserializeOwned + Send + 'static,
    {
        let size = self.left.map_or(self.size, |left| left.min(self.size));
        let mut documents = VecDeque::new();
        if size == 0 {
            self.ended = true;
            return Ok((self, documents));
        }
        self.find.limit = Some(size);
        let sort = self.find.sort.total();
        let mut last: Option<Vec<RawBson>> = None;
        let collection = self.find.collection.clone();
        let operation = Operation::begin("stream", &collection);
        let mut each = |view: &ReadView<'_>, position: usize, document: &bson::RawDocument| {
            if position as u64 + 1 == size {
                last = Some(sort.key(document));
            }
            documents.push_back(decode_in(view, &collection, document));
            Ok(ControlFlow::Continue(()))
        };
        let cost = if self.session.has_own_state() {
            // The transaction or the snapshot is the state of the data, and is free for other operations in between.
            let session = self.session.clone();
            let view = session.reader(&collection, &self.load).await?;
            let mut cost = operation.observe(self.resolve(&view).await)?;
            let each = &mut |position, document: &_| each(&view, position, document);
            cost += operation.observe(view.find(&self.find, each).await)?;
            session
                .record_query(operation, &view, &self.find, cost)
                .await?;
            cost
        } else {
            let (view, since) = self.state_of_data(snapshot)?;
            let mut cost = operation.observe(self.resolve(&view).await)?;
            let each = &mut |position, document: &_| each(&view, position, document);
            cost += operation.observe(view.find(&self.find, each).await)?;
            let session = &self.session;
            session
                .record_query(operation, &view, &self.find, cost)
                .await?;
            self.held = Some((view, since));
            cost
        };
        self.ended = last.is_none();
        self.find.after = last;
        self.find.skip = 0;
        self.left = self.left.map(|left| left - documents.len() as u64);
        // If an index gives the order, the cost of a chunk is proportional to its size. If every chunk takes a sort of all matches, growing
        // chunks keep the work in proportion to the result.
        let looked_at = cost.documents_examined.max(cost.keys_examined);
        self.size = if looked_at > 4 * size {
            self.size.saturating_mul(4)
        } else {
            CHUNK
        };
        if self.ended {
            self.held = None;
        }
        Ok((self, documents))
    }

    /// Resolves the semi-joins on a new state of the data.
    async fn resolve(&mut self, view: &ReadView<'_>) -> Result<Cost> {
        let mut cost = Cost::default();
        if !self.is_resolved {
            let filter = self.filter.clone();
            self.find.filter =
                semi_join::resolve(&self.semi_joins, filter, view, &mut cost).await?;
            self.is_resolved = true;
        }
        Ok(cost)
    }

    /// Returns the state of the data for the next chunk, and since when it is kept: the state of the chunk before, or a newer one if the
    /// stream is not a `snapshot`.
    fn state_of_data(&mut self, snapshot: bool) -> Result<(ReadView<'static>, Instant)> {
        let collection = &self.find.collection;
        match self.held.take() {
            Some((view, since)) if since.elapsed() < SNAPSHOT_LIFE => Ok((view, since)),
            Some(_) if snapshot => {
                let message = format!(
                    "stream of `{collection}` took longer than the {} s for which one state of \
                     the data is kept: read faster, or without `snapshot`",
                    SNAPSHOT_LIFE.as_secs()
                );
                Err(Error::new(ErrorKind::Limit, message).at(collection, None, None))
            }
            _ => {
                let view = self.session.committed_view(collection, &self.load)?;
                self.is_resolved = self.semi_joins.is_empty();
                Ok((view, Instant::now()))
            }
        }
    }
}

impl<T: DeserializeOwned + Send + 'static> Stream for DocumentStream<T> {
    type Item = Result<T>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            match std::mem::replace(&mut self.state, StreamState::Done) {
                StreamState::Done => return Poll::Ready(None),
                StreamState::Ready(Err(error), _) => return Poll::Ready(Some(Err(error))),
                StreamState::Ready(Ok(chunks), mut documents) => {
                    if let Some(document) = documents.pop_front() {
                        self.state = StreamState::Ready(Ok(chunks), documents);
                        return Poll::Ready(Some(document));
                    }
                    if !chunks.ended {
                        let next = chunks.next(self.snapshot);
                        self.state = StreamState::Reading(Box::pin(next));
                    }
                }
                StreamState::Reading(mut next) => match next.as_mut().poll(cx) {
                    Poll::Pending => {
                        self.state = StreamState::Reading(next);
                        return Poll::Pending;
                    }
                    Poll::Ready(Ok((chunks, documents))) => {
                        self.state = StreamState::Ready(Ok(chunks), documents);
                    }
                    Poll::Ready(Err(error)) => return Poll::Ready(Some(Err(error))),
                },
            }
        }
    }
}

impl<T: DeserializeOwned + Send + 'static> DocumentStream<T> {
    /// Waits for the next document. `None` at the end.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let mut parts = shop.parts.all().stream();
    /// while let Some(part) = parts.next().await {
    ///     match part {
    ///         Ok(part) => println!("{}", part.name),
    ///         Err(error) => println!("unreadable, and left out: {error}"),
    ///     }
    /// }
    /// # Ok(()) });
    /// ```
    pub async fn next(&mut self) -> Option<Result<T>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Waits for the next document, as [`next`](DocumentStream::next) does, for `while let
    /// Some(document) = stream.try_next().await?`. After an error of the kind `Decode`, another call goes on.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let mut parts = shop.parts.all().stream();
    /// let mut bought = Vec::new();
    /// while let Some(part) = parts.try_next().await? {
    ///     if part.qty < 10 {
    ///         bought.push(part.name);
    ///     }
    /// }
    /// assert_eq!(bought, ["nut"]);
    /// # Ok(()) });
    /// ```
    pub async fn try_next(&mut self) -> Result<Option<T>> {
        self.next().await.transpose()
    }
}

impl<T> fmt::Debug for DocumentStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DocumentStream")
            .field("snapshot", &self.snapshot)
            .finish_non_exhaustive()
    }
}

impl<T> Unpin for DocumentStream<T> {}
