//! Replacements of whole documents, and changes of documents that were read.

use std::slice;

use bson::{RawBson, RawDocument, RawDocumentBuf};
use odm_store::{Error, ReaderExt, Result};

use super::{
    PreparedWrite, WriteBuilder, impl_debug,
    prepared::impl_write_future,
    rows::{ReadBack, decode_in, encode, stamped},
};
use crate::{
    maintain::{Doc, Write, WritePlan},
    model::Document,
    session::Session,
    trace::Operation,
};

/// A replacement of a document, from [`Repository::replace`](super::Repository::replace) or
/// [`Repository::upsert`](super::Repository::upsert). Awaiting it returns the stored document.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let mut nut = shop.parts.get(2).await?;
/// nut.qty = 80;
/// let stored: Part = shop.parts.replace(nut).await?;
/// assert_eq!(stored.qty, 80);
/// # Ok(()) });
/// ```
#[must_use = "a write does nothing until it is awaited"]
pub struct Replace<M> {
    session: Session,
    document: M,
    upsert: bool,
}

impl<M: Document> Replace<M> {
    pub(super) fn new(session: Session, document: M, upsert: bool) -> Self {
        Replace {
            session,
            document,
            upsert,
        }
    }

    /// Runs the write, rolls it back, and returns the changes that it would make; see [dry runs](super#dry-runs).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let mut lamp = shop.products.get(2).await?;
    /// lamp.name = "desk lamp".into();
    /// let plan = shop.products.replace(lamp).plan().await?;
    /// assert_eq!(plan.collections[0].changed, 1);
    /// # Ok(()) });
    /// ```
    pub async fn plan(self) -> Result<WritePlan> {
        self.prepare()?.plan().await
    }
}

impl_debug!(Replace<M>: upsert);

impl<M: Document> WriteBuilder for Replace<M> {
    type Returned = M;

    fn prepare(self) -> Result<PreparedWrite<M>> {
        let one = |mut stored: Vec<M>| stored.swap_remove(0);
        replacement(
            self.session,
            slice::from_ref(&self.document),
            self.upsert,
            one,
        )
    }
}

/// Upserts of several documents, from [`Repository::upsert_many`](super::Repository::upsert_many). Awaiting it
/// returns the stored documents, in the same order.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let parts = shop.parts.all().await?;
/// let stored: Vec<Part> = shop.parts.upsert_many(parts.clone()).await?;
/// assert_eq!(stored, parts);
/// # Ok(()) });
/// ```
#[must_use = "a write does nothing until it is awaited"]
pub struct UpsertMany<M> {
    session: Session,
    documents: Vec<M>,
}

impl<M: Document> UpsertMany<M> {
    pub(super) fn new(session: Session, documents: Vec<M>) -> Self {
        UpsertMany { session, documents }
    }

    /// Runs the write, rolls it back, and returns the changes that it would make; see [dry runs](super#dry-runs).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let mut list = shop.parts.all().await?;
    /// list[0].qty = 70;
    /// list.push(Part { id: 4, name: "rivet".into(), ..list[1].clone() });
    /// let plan = shop.parts.upsert_many(list).plan().await?;
    /// assert_eq!((plan.collections[0].changed, plan.collections[0].inserted), (1, 1));
    /// # Ok(()) });
    /// ```
    pub async fn plan(self) -> Result<WritePlan> {
        self.prepare()?.plan().await
    }
}

impl_debug!(UpsertMany<M>);

impl<M: Document> WriteBuilder for UpsertMany<M> {
    type Returned = Vec<M>;

    fn prepare(self) -> Result<PreparedWrite<Vec<M>>> {
        replacement(self.session, &self.documents, true, |stored| stored)
    }
}

impl_write_future!(Replace<M>, UpsertMany<M>);

fn replacement<M: Document, T: Send + 'static>(
    session: Session,
    documents: &[M],
    upsert: bool,
    returned: fn(Vec<M>) -> T,
) -> Result<PreparedWrite<T>> {
    let documents = documents
        .iter()
        .map(|document| encode(document).map(stamped));
    let documents: Vec<Doc> = documents.collect::<Result<_>>()?;
    let read_back = ReadBack::new(&documents);
    let write = Write::Replace {
        collection: M::COLLECTION.to_owned(),
        documents,
        upsert,
        is_raw: false,
        check_returned: read_back.check(),
    };
    let prepared = PreparedWrite::returning(session, write, read_back, returned);
    Ok(prepared)
}

/// The number of failed attempts after which a transaction excludes concurrent writes, on a store without outer writes.
const ATTEMPTS: usize = 8;

/// Reads, changes and writes a document; see [`Repository::modify`](super::Repository::modify).
pub(super) async fn modify<M: Document, E: From<Error> + Send>(
    session: Session,
    id: Result<RawBson>,
    mut change: impl FnMut(&mut M) -> Result<(), E> + Send,
) -> Result<M, E> {
    let id = id?;
    // An attempt fails only if a concurrent write succeeded, so that all calls end at some time. After some failed attempts, a transaction
    // excludes concurrent writes, if there are none beside it.
    let can_exclude = !session.is_bound() && !session.store().capabilities().outer_writes;
    let mut attempts = 0;
    while !can_exclude || attempts < ATTEMPTS {
        match attempt(&session, &id, &mut change).await {
            Err(AttemptError::Write(error)) if error.is_stale() => attempts += 1,
            result => return result.map_err(AttemptError::into_error),
        }
    }
    // Each attempt lost a conflict.
    let (alone, transaction) = session.begin().await?;
    let attempt = attempt(&alone, &id, &mut change).await;
    let document = attempt.map_err(AttemptError::into_error)?;
    transaction.commit().await?;
    Ok(document)
}

/// The cause of a failed attempt. Only after a conflict with a concurrent write is the attempt repeated.
enum AttemptError<E> {
    Write(Error),
    Closure(E),
}

impl<E> From<Error> for AttemptError<E> {
    fn from(error: Error) -> Self {
        AttemptError::Write(error)
    }
}

impl<E: From<Error>> AttemptError<E> {
    fn into_error(self) -> E {
        match self {
            AttemptError::Write(error) => error.into(),
            AttemptError::Closure(error) => error,
        }
    }
}

async fn attempt<M: Document, E: From<Error> + Send>(
    session: &Session,
    id: &RawBson,
    change: &mut (impl FnMut(&mut M) -> Result<(), E> + Send),
) -> Result<M, AttemptError<E>> {
    let (read, mut document) = read::<M>(session, id).await?;
    let from = encode(&document)?;
    change(&mut document).map_err(AttemptError::Closure)?;
    let to = encode(&document)?;
    let read_back = ReadBack::<M>::new(slice::from_ref(&to));
    let write = Write::Modify {
        collection: M::COLLECTION.to_owned(),
        id: id.clone(),
        read,
        from: RawDocumentBuf::clone(&from),
        to,
        check_returned: read_back.check(),
    };
    session.write(write).await?;
    Ok(read_back.take()?.swap_remove(0))
}

/// Reads a document, as stored and as its type.
async fn read<M: Document>(session: &Session, id: &RawBson) -> Result<(RawDocumentBuf, M)> {
    let operation = Operation::begin("get", M::COLLECTION);
    let view = session.reader(M::COLLECTION, &[]).await?;
    let read = |stored: &RawDocument| {
        let document = decode_in(&view, M::COLLECTION, stored)?;
        Ok((stored.to_owned(), document))
    };
    let found = view.get_one_with(M::COLLECTION, id, read).await;
    let (found, cost) = operation.observe(found)?;
    session.record(operation, cost);
    found.ok_or_else(|| Error::not_found(M::COLLECTION, &[id]))
}
