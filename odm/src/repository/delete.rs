//! Deletes.

use std::marker::PhantomData;

use bson::RawBson;
use odm_mql as mql;
use odm_store::Result;

use super::{PreparedWrite, WriteBuilder, impl_debug, prepared::impl_write_future};
use crate::{
    maintain::{ReturnDocument, Write, WritePlan, WriteTarget},
    model::Document,
    query::Filter,
    session::Session,
};

/// A delete of one document, from [`Repository::delete`](super::Repository::delete). Awaiting it returns
/// whether there was one.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let there_was_one: bool = shop.reviews.delete(1).await?;
/// assert!(there_was_one);
/// # Ok(()) });
/// ```
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

    pub(super) fn into_parts(self) -> (Session, Result<WriteTarget>) {
        (self.session, self.id.map(WriteTarget::one))
    }

    /// Runs the write, rolls it back, and returns the changes that it would make; see [dry runs](super#dry-runs).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let plan = shop.products.delete(3).plan().await?;
    /// assert_eq!((plan.matched, plan.collections.len()), (1, 2)); // the product, and its manual
    /// # Ok(()) });
    /// ```
    pub async fn plan(self) -> Result<WritePlan> {
        self.prepare()?.plan().await
    }
}

impl_debug!(Delete<M>: id);

impl<M: Document> WriteBuilder for Delete<M> {
    type Returned = bool;

    fn prepare(self) -> Result<PreparedWrite<bool>> {
        let (session, target) = self.into_parts();
        let write = write::<M>(target?, None);
        let prepared = PreparedWrite::new(session, write, |outcome| Ok(outcome.matched > 0));
        Ok(prepared)
    }
}

/// A delete of the documents that match a filter, from
/// [`Repository::delete_where`](super::Repository::delete_where). Awaiting it returns their number.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let deleted: u64 = shop.reviews.delete_where(Review::fields().stars.lt(4)).await?;
/// assert_eq!(deleted, 1);
/// # Ok(()) });
/// ```
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

    pub(super) fn into_parts(self) -> (Session, Result<WriteTarget>) {
        (self.session, self.filter.map(WriteTarget::Matching))
    }

    /// Runs the write, rolls it back, and returns the changes that it would make; see [dry runs](super#dry-runs).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let plan = shop.reviews.delete_where(Review::fields().stars.eq(5)).plan().await?;
    /// let products = plan.collections.iter().find(|planned| planned.collection == "products").unwrap();
    /// assert_eq!((plan.matched, products.changed), (2, 2));
    /// # Ok(()) });
    /// ```
    pub async fn plan(self) -> Result<WritePlan> {
        self.prepare()?.plan().await
    }
}

impl_debug!(DeleteWhere<M>: filter);

impl<M: Document> WriteBuilder for DeleteWhere<M> {
    type Returned = u64;

    fn prepare(self) -> Result<PreparedWrite<u64>> {
        let (session, target) = self.into_parts();
        let write = write::<M>(target?, None);
        let prepared = PreparedWrite::new(session, write, |outcome| Ok(outcome.matched));
        Ok(prepared)
    }
}

impl_write_future!(Delete<M>, DeleteWhere<M>);

pub(super) fn write<M: Document>(target: WriteTarget, returning: Option<ReturnDocument>) -> Write {
    Write::Delete {
        collection: M::COLLECTION.to_owned(),
        target,
        returning,
        rights: None,
    }
}
