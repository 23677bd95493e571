//! Replacements of whole documents, and changes of documents that were read.

use std::{future::IntoFuture, slice};

use bson::{RawBson, RawDocument, RawDocumentBuf};

use super::{
    Deferred, impl_debug,
    rows::{ReadBack, decode, decode_in, encode, stamped},
};
use crate::{
    error::{Error, Result},
    maintain::{Write, WritePlan},
    model::{Document, id_to_raw},
    session::Session,
    store::ReaderExt,
    trace::Operation,
};

/// A replacement of a document, from [`Repository::replace`](super::Repository::replace) or
/// [`Repository::upsert`](super::Repository::upsert). Awaiting it returns what was stored.
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

    /// Runs the write, rolls it back, and returns what it would change; see
    /// [dry runs](super#dry-runs).
    pub async fn plan(self) -> Result<WritePlan> {
        let write = self.write().map(|(write, _)| write);
        self.session.plan(write).await
    }

    fn write(&self) -> Result<(Write, ReadBack<M>)> {
        let document = stamped(encode(&self.document)?);
        let read_back = ReadBack::new(slice::from_ref(&document));
        let write = Write::Replace {
            collection: M::COLLECTION.to_owned(),
            id: id_to_raw::<M>(self.document.id())?,
            document,
            upsert: self.upsert,
            check_returned: read_back.check(),
        };
        Ok((write, read_back))
    }
}

impl_debug!(Replace<M>: upsert);

impl<M: Document> IntoFuture for Replace<M> {
    type Output = Result<M>;
    type IntoFuture = Deferred<M>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let (write, read_back) = self.write()?;
            self.session.write(write).await?;
            Ok(read_back.take()?.swap_remove(0))
        })
    }
}

/// How often a document is read again after others changed it, before a transaction excludes them.
const ATTEMPTS: usize = 8;

/// Reads, changes and writes a document; see [`Repository::modify`](super::Repository::modify).
pub(super) async fn modify<M: Document, E: From<Error> + Send>(
    session: Session,
    id: Result<RawBson>,
    mut change: impl FnMut(&mut M) -> Result<(), E> + Send,
) -> Result<M, E> {
    let id = id?;
    for _ in 0..ATTEMPTS {
        match attempt(&session, &id, &mut change).await {
            Err(Failure::Write(error)) if error.is_stale() => {}
            result => return result.map_err(Failure::into_error),
        }
    }
    if session.is_bound() {
        let attempt = attempt(&session, &id, &mut change).await;
        return attempt.map_err(Failure::into_error);
    }
    // Others were faster each time. In a transaction, they wait.
    let (alone, transaction) = session.begin().await?;
    let attempt = attempt(&alone, &id, &mut change).await;
    let document = attempt.map_err(Failure::into_error)?;
    transaction.commit().await?;
    Ok(document)
}

/// What ended an attempt: only one that others were faster in is made again.
enum Failure<E> {
    Write(Error),
    Closure(E),
}

impl<E> From<Error> for Failure<E> {
    fn from(error: Error) -> Self {
        Failure::Write(error)
    }
}

impl<E: From<Error>> Failure<E> {
    fn into_error(self) -> E {
        match self {
            Failure::Write(error) => error.into(),
            Failure::Closure(error) => error,
        }
    }
}

async fn attempt<M: Document, E: From<Error> + Send>(
    session: &Session,
    id: &RawBson,
    change: &mut (impl FnMut(&mut M) -> Result<(), E> + Send),
) -> Result<M, Failure<E>> {
    let (read, mut document) = read::<M>(session, id).await?;
    let from = encode(&document)?;
    change(&mut document).map_err(Failure::Closure)?;
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
    let outcome = session.write(write).await?;
    match outcome.documents.is_empty() {
        false => Ok(read_back.take()?.swap_remove(0)),
        // Only derived fields differ from what was stored, and these are ignored.
        true => Ok(decode(M::COLLECTION, &from)?),
    }
}

/// Reads a document, and what it is stored as.
async fn read<M: Document>(session: &Session, id: &RawBson) -> Result<(RawDocumentBuf, M)> {
    let operation = Operation::begin("get", M::COLLECTION);
    let view = session.reader(M::COLLECTION, &[]).await?;
    let read = |stored: &RawDocument| {
        let document = decode_in(&view, M::COLLECTION, stored)?;
        Ok((stored.to_owned(), document))
    };
    let (found, cost) = view.get_one_with(M::COLLECTION, id, read).await?;
    session.record(operation, cost);
    found.ok_or_else(|| Error::not_found(M::COLLECTION, &[id]))
}
