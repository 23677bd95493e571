//! Inserts.

use std::future::IntoFuture;

use super::{
    Deferred, impl_debug,
    rows::{ReadBack, encode, stamped},
};
use crate::{
    error::Result,
    maintain::{Doc, Write, WritePlan},
    model::Document,
    session::Session,
};

/// An insert of one document, from [`Repository::insert`](super::Repository::insert). Awaiting it
/// returns what was stored.
#[must_use = "a write does nothing until it is awaited"]
pub struct Insert<M> {
    session: Session,
    document: M,
}

impl<M: Document> Insert<M> {
    pub(super) fn new(session: Session, document: M) -> Self {
        Insert { session, document }
    }

    /// Runs the write, rolls it back, and returns what it would change; see
    /// [dry runs](super#dry-runs).
    pub async fn plan(self) -> Result<WritePlan> {
        let write = write(&[self.document]).map(|(write, _)| write);
        self.session.plan(write).await
    }
}

impl_debug!(Insert<M>);

impl<M: Document> IntoFuture for Insert<M> {
    type Output = Result<M>;
    type IntoFuture = Deferred<M>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let mut stored = insert(&self.session, vec![self.document]).await?;
            Ok(stored.swap_remove(0))
        })
    }
}

/// An insert of several documents, from [`Repository::insert_many`](super::Repository::insert_many).
/// Awaiting it returns what was stored, in the same order.
#[must_use = "a write does nothing until it is awaited"]
pub struct InsertMany<M> {
    session: Session,
    documents: Vec<M>,
}

impl<M: Document> InsertMany<M> {
    pub(super) fn new(session: Session, documents: Vec<M>) -> Self {
        InsertMany { session, documents }
    }

    /// Runs the write, rolls it back, and returns what it would change; see
    /// [dry runs](super#dry-runs).
    pub async fn plan(self) -> Result<WritePlan> {
        let write = write(&self.documents).map(|(write, _)| write);
        self.session.plan(write).await
    }
}

impl_debug!(InsertMany<M>);

impl<M: Document> IntoFuture for InsertMany<M> {
    type Output = Result<Vec<M>>;
    type IntoFuture = Deferred<Vec<M>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { insert(&self.session, self.documents).await })
    }
}

async fn insert<M: Document>(session: &Session, documents: Vec<M>) -> Result<Vec<M>> {
    if documents.is_empty() {
        return Ok(documents);
    }
    let (write, read_back) = write(&documents)?;
    session.write(write).await?;
    read_back.take()
}

fn write<M: Document>(documents: &[M]) -> Result<(Write, ReadBack<M>)> {
    let documents = documents
        .iter()
        .map(|document| encode(document).map(stamped));
    let documents = documents.collect::<Result<Vec<Doc>>>()?;
    let read_back = ReadBack::new(&documents);
    let write = Write::Insert {
        collection: M::COLLECTION.to_owned(),
        documents,
        check_returned: read_back.check(),
    };
    Ok((write, read_back))
}
