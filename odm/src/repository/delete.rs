//! Removals.

use std::{future::IntoFuture, marker::PhantomData};

use bson::RawBson;

use super::{Deferred, by_id};
use crate::{
    error::Result,
    maintain::{Plan, Write},
    model::Document,
    mql,
    query::Filter,
    session::Session,
    store::DeleteWrite,
};

/// Removes one document. Made by [`Repository::delete`](super::Repository::delete).
#[must_use = "a write does nothing until it is awaited"]
pub struct Delete<M> {
    session: Session,
    id: Result<RawBson>,
    model: PhantomData<fn() -> M>,
}

impl<M: Document> Delete<M> {
    pub(super) fn new(session: Session, id: Result<RawBson>) -> Self {
        Delete {
            session,
            id,
            model: PhantomData,
        }
    }

    /// What the write would do, and touch, with all that follows from it: it is run and undone. Others
    /// who write wait for it; it cannot be done inside a transaction.
    ///
    /// # Errors
    ///
    /// Those of the write.
    pub async fn plan(self) -> Result<Plan> {
        self.session.plan(self.id.map(by_id).map(write::<M>)).await
    }
}

impl<M: Document> IntoFuture for Delete<M> {
    type Output = Result<bool>;
    type IntoFuture = Deferred<bool>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { Ok(delete::<M>(&self.session, self.id.map(by_id)).await? > 0) })
    }
}

/// Removes the documents that match. Made by
/// [`Repository::delete_where`](super::Repository::delete_where).
#[must_use = "a write does nothing until it is awaited"]
pub struct DeleteWhere<M> {
    session: Session,
    filter: Result<mql::Filter>,
    model: PhantomData<fn() -> M>,
}

impl<M: Document> DeleteWhere<M> {
    pub(super) fn new(session: Session, filter: Filter<M>) -> Self {
        DeleteWhere {
            session,
            filter: filter.into_mql(),
            model: PhantomData,
        }
    }

    /// What the write would do, and touch, with all that follows from it: it is run and undone. Others
    /// who write wait for it; it cannot be done inside a transaction.
    ///
    /// # Errors
    ///
    /// Those of the write.
    pub async fn plan(self) -> Result<Plan> {
        self.session.plan(self.filter.map(write::<M>)).await
    }
}

impl<M: Document> IntoFuture for DeleteWhere<M> {
    type Output = Result<u64>;
    type IntoFuture = Deferred<u64>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { delete::<M>(&self.session, self.filter).await })
    }
}

async fn delete<M: Document>(session: &Session, filter: Result<mql::Filter>) -> Result<u64> {
    Ok(session.write(write::<M>(filter?)).await?.matched)
}

fn write<M: Document>(filter: mql::Filter) -> Write {
    Write::Delete(DeleteWrite {
        collection: M::COLLECTION.to_owned(),
        filter,
        multi: true,
    })
}
