//! New documents.

use std::future::IntoFuture;

use super::{
    Deferred,
    rows::{encode, stored},
};
use crate::{database::Session, error::Result, maintain::Write, model::Document};

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
    let sent = documents.iter().map(encode).collect::<Result<Vec<_>>>()?;
    let write = Write::Insert {
        collection: M::COLLECTION.to_owned(),
        documents: sent.clone(),
    };
    let outcome = session.write(write).await?;
    documents
        .into_iter()
        .zip(sent)
        .zip(outcome.effects)
        .map(|((document, sent), effect)| stored(document, &sent, effect.after.as_deref()))
        .collect()
}
