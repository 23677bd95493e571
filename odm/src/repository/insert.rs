//! Inserts.

use std::future::IntoFuture;

use super::{
    Deferred, impl_debug,
    rows::{encode, stamped, stored},
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
        let write = encoded(&[self.document]).map(write::<M>);
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
        let write = encoded(&self.documents).map(write::<M>);
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
    let sent = encoded(&documents)?;
    let outcome = session.write(write::<M>(sent.clone())).await?;
    documents
        .into_iter()
        .zip(sent)
        .zip(outcome.documents)
        .map(|((document, sent), after)| stored(document, &sent, Some(&after)))
        .collect()
}

fn encoded<M: Document>(documents: &[M]) -> Result<Vec<Doc>> {
    documents.iter().map(encode).collect()
}

fn write<M: Document>(documents: Vec<Doc>) -> Write {
    Write::Insert {
        collection: M::COLLECTION.to_owned(),
        documents: documents.into_iter().map(stamped).collect(),
    }
}
