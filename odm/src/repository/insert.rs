//! Inserts.

use std::iter;

use super::{
    Deferred, PreparedWrite, WriteBuilder, impl_debug,
    prepared::impl_write_future,
    rows::{ReadBack, encode_new, id_of_number, stamped},
};
use crate::{
    error::Result,
    maintain::{Doc, IdOfNumber, Write, WritePlan},
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
        self.prepare()?.plan().await
    }
}

impl_debug!(Insert<M>);

impl<M: Document> WriteBuilder for Insert<M> {
    type Returned = M;

    fn prepare(self) -> Result<PreparedWrite<M>> {
        self.sent
            .prepare(self.session, |mut stored| stored.swap_remove(0))
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
        self.prepare()?.plan().await
    }
}

impl_debug!(InsertMany<M>);

impl<M: Document> WriteBuilder for InsertMany<M> {
    type Returned = Vec<M>;

    fn prepare(self) -> Result<PreparedWrite<Vec<M>>> {
        self.sent.prepare(self.session, |stored| stored)
    }
}

impl_write_future!(Insert<M>, InsertMany<M>);

/// Documents to insert, as they are stored.
struct Sent<M> {
    documents: Result<Vec<Doc>>,
    numbered: Option<IdOfNumber>,
    read_back: fn(&[Doc]) -> ReadBack<M>,
}

impl<M: Document> Sent<M> {
    fn new<N: Insertable<M>>(documents: impl IntoIterator<Item = N>) -> Self {
        let documents = documents.into_iter();
        let documents = documents.map(|document| encode_new(&document).map(stamped));
        Sent {
            documents: documents.collect(),
            numbered: id_of_number::<M, N>(),
            read_back: match N::IS_WHOLE {
                true => ReadBack::new,
                false => ReadBack::of_new,
            },
        }
    }

    fn prepare<T: Send + 'static>(
        self,
        session: Session,
        returned: fn(Vec<M>) -> T,
    ) -> Result<PreparedWrite<T>> {
        let documents = self.documents?;
        let read_back = (self.read_back)(&documents);
        let write = Write::Insert {
            collection: M::COLLECTION.to_owned(),
            documents,
            numbered: self.numbered,
            check_returned: read_back.check(),
        };
        let prepared = PreparedWrite::returning(session, write, read_back, returned);
        Ok(prepared)
    }
}
