//! Deletes.

use std::{future::IntoFuture, marker::PhantomData};

use bson::RawBson;

use super::{Deferred, by_id, impl_debug};
use crate::{
    error::Result,
    maintain::{Returning, Write, WritePlan},
    model::Document,
    mql,
    query::Filter,
    session::Session,
    store::DeleteWrite,
};

/// A delete of one document, from [`Repository::delete`](super::Repository::delete). Awaiting it returns
/// whether there was one.
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

    pub(super) fn into_parts(self) -> (Session, Result<mql::Filter>) {
        (self.session, self.id.map(by_id))
    }

    /// Runs the write, rolls it back, and returns what it would change; see
    /// [dry runs](super#dry-runs).
    pub async fn plan(self) -> Result<WritePlan> {
        let (session, filter) = self.into_parts();
        session
            .plan(filter.map(|filter| write::<M>(filter, None)))
            .await
    }
}

impl_debug!(Delete<M>: id);

impl<M: Document> IntoFuture for Delete<M> {
    type Output = Result<bool>;
    type IntoFuture = Deferred<bool>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { Ok(delete::<M>(&self.session, self.id.map(by_id)).await? > 0) })
    }
}

/// A delete of the documents that match a filter, from
/// [`Repository::delete_where`](super::Repository::delete_where). Awaiting it returns their number.
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

    pub(super) fn into_parts(self) -> (Session, Result<mql::Filter>) {
        (self.session, self.filter)
    }

    /// Runs the write, rolls it back, and returns what it would change; see
    /// [dry runs](super#dry-runs).
    pub async fn plan(self) -> Result<WritePlan> {
        let (session, filter) = self.into_parts();
        session
            .plan(filter.map(|filter| write::<M>(filter, None)))
            .await
    }
}

impl_debug!(DeleteWhere<M>: filter);

impl<M: Document> IntoFuture for DeleteWhere<M> {
    type Output = Result<u64>;
    type IntoFuture = Deferred<u64>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { delete::<M>(&self.session, self.filter).await })
    }
}

async fn delete<M: Document>(session: &Session, filter: Result<mql::Filter>) -> Result<u64> {
    Ok(session.write(write::<M>(filter?, None)).await?.matched)
}

pub(super) fn write<M: Document>(filter: mql::Filter, returning: Option<Returning>) -> Write {
    Write::Delete {
        write: DeleteWrite {
            collection: M::COLLECTION.to_owned(),
            filter,
        },
        returning,
    }
}
