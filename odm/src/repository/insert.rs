//! New documents.

use std::future::IntoFuture;

use bson::RawDocumentBuf;

use super::{
    Deferred,
    rows::{encode, stored},
};
use crate::{
    error::Result,
    maintain::{Plan, Write},
    model::Document,
    session::Session,
};

/// Stores a new document. Made by [`Repository::insert`](super::Repository::insert).
#[must_use = "a write does nothing until it is awaited"]
pub struct Insert<M> {
    session: Session,
    document: M,
}

impl<M: Document> Insert<M> {
    pub(super) fn new(session: Session, document: M) -> Self {
        Insert { session, document }
    }

    /// What the write would do, and touch, with all that follows from it: it is run and undone. Others
    /// who write wait for it; it cannot be done inside a transaction.
    ///
    /// # Errors
    ///
    /// Those of the write.
    pub async fn plan(self) -> Result<Plan> {
        let write = encoded(&[self.document]).map(write::<M>);
        self.session.plan(write).await
    }
}

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

/// Stores new documents. Made by [`Repository::insert_many`](super::Repository::insert_many).
#[must_use = "a write does nothing until it is awaited"]
pub struct InsertMany<M> {
    session: Session,
    documents: Vec<M>,
}

impl<M: Document> InsertMany<M> {
    pub(super) fn new(session: Session, documents: Vec<M>) -> Self {
        InsertMany { session, documents }
    }

    /// What the write would do, and touch, with all that follows from it: it is run and undone. Others
    /// who write wait for it; it cannot be done inside a transaction.
    ///
    /// # Errors
    ///
    /// Those of the write.
    pub async fn plan(self) -> Result<Plan> {
        let write = encoded(&self.documents).map(write::<M>);
        self.session.plan(write).await
    }
}

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
        .zip(outcome.effects)
        .map(|((document, sent), effect)| stored(document, &sent, effect.after.as_deref()))
        .collect()
}

fn encoded<M: Document>(documents: &[M]) -> Result<Vec<RawDocumentBuf>> {
    documents.iter().map(encode).collect()
}

fn write<M: Document>(documents: Vec<RawDocumentBuf>) -> Write {
    Write::Insert {
        collection: M::COLLECTION.to_owned(),
        documents,
    }
}
