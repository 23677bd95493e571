//! Inserts.

use std::{future::IntoFuture, iter};

use super::{
    Deferred, impl_debug,
    rows::{ReadBack, encode_new, stamped},
};
use crate::{
    error::Result,
    maintain::{Doc, Write, WritePlan},
    model::{Document, Insertable},
    session::Session,
};

/// An insert of one document, from [`Repository::insert`](super::Repository::insert). Awaiting it
/// returns what was stored.
#[must_use = "a write does nothing until it is awaited"]
pub struct Insert<M> {
    session: Session,
    sent: Sent<M>,
}

impl<M: Document> Insert<M> {
    pub(super) fn new<N: Insertable<M>>(session: Session, document: N) -> Self {
        let sent = Sent::new(iter::once(document));
        Insert { session, sent }
    }

    /// Runs the write, rolls it back, and returns what it would change; see
    /// [dry runs](super#dry-runs).
    pub async fn plan(self) -> Result<WritePlan> {
        let write = self.sent.write().map(|(write, _)| write);
        self.session.plan(write).await
    }
}

impl_debug!(Insert<M>);

impl<M: Document> IntoFuture for Insert<M> {
    type Output = Result<M>;
    type IntoFuture = Deferred<M>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let mut stored = self.sent.insert(&self.session).await?;
            Ok(stored.swap_remove(0))
        })
    }
}

/// An insert of several documents, from [`Repository::insert_many`](super::Repository::insert_many).
/// Awaiting it returns what was stored, in the same order.
#[must_use = "a write does nothing until it is awaited"]
pub struct InsertMany<M> {
    session: Session,
    sent: Sent<M>,
}

impl<M: Document> InsertMany<M> {
    pub(super) fn new<N: Insertable<M>>(
        session: Session,
        documents: impl IntoIterator<Item = N>,
    ) -> Self {
        let sent = Sent::new(documents);
        InsertMany { session, sent }
    }

    /// Runs the write, rolls it back, and returns what it would change; see
    /// [dry runs](super#dry-runs).
    pub async fn plan(self) -> Result<WritePlan> {
        let write = self.sent.write().map(|(write, _)| write);
        self.session.plan(write).await
    }
}

impl_debug!(InsertMany<M>);

impl<M: Document> IntoFuture for InsertMany<M> {
    type Output = Result<Vec<M>>;
    type IntoFuture = Deferred<Vec<M>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.sent.insert(&self.session).await })
    }
}

/// Documents to insert, as they are stored.
struct Sent<M> {
    documents: Result<Vec<Doc>>,
    read_back: fn(&[Doc]) -> ReadBack<M>,
}

impl<M: Document> Sent<M> {
    fn new<N: Insertable<M>>(documents: impl IntoIterator<Item = N>) -> Self {
        let documents = documents.into_iter();
        let documents = documents.map(|document| encode_new(&document).map(stamped));
        Sent {
            documents: documents.collect(),
            read_back: match N::IS_WHOLE {
                true => ReadBack::new,
                false => ReadBack::of_new,
            },
        }
    }

    fn write(self) -> Result<(Write, ReadBack<M>)> {
        let documents = self.documents?;
        let read_back = (self.read_back)(&documents);
        let write = Write::Insert {
            collection: M::COLLECTION.to_owned(),
            documents,
            check_returned: read_back.check(),
        };
        Ok((write, read_back))
    }

    async fn insert(self, session: &Session) -> Result<Vec<M>> {
        if self.documents.as_ref().is_ok_and(Vec::is_empty) {
            return Ok(Vec::new());
        }
        let (write, read_back) = self.write()?;
        session.write(write).await?;
        read_back.take()
    }
}
