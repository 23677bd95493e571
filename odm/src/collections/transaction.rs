//! Transactions on collections by their names.

use std::{fmt, ops::Deref, sync::Arc};

use odm_store::Result;

use super::{Collections, Retryable};
use crate::session::Bound;

impl Collections {
    /// Begins a transaction, which the caller ends. Dropping it rolls back.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::rawdoc, mql::Filter};
    ///
    /// let collections = Collections::of(&shop);
    /// let unit = collections.begin().await?;
    /// unit.collection("notes").insert([rawdoc! { "_id": 1 }]).await?;
    /// assert_eq!(unit.collection("notes").find(Filter::default()).count().await?, 1);
    /// assert_eq!(collections.collection("notes").find(Filter::default()).count().await?, 0);
    /// unit.commit().await?;
    /// assert_eq!(collections.collection("notes").find(Filter::default()).count().await?, 1);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `InvalidQuery` inside of another transaction.
    pub async fn begin(&self) -> Result<CollectionsTransaction> {
        let (session, bound) = self.session.begin().await?;
        Ok(CollectionsTransaction {
            collections: Collections { session },
            bound,
        })
    }
}

/// A transaction on [`Collections`], from [`Collections::begin`]. It derefs to the collections in it.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::{Collections, mql::Filter};
///
/// let unit = Collections::of(&shop).begin().await?;
/// unit.collection("orders").delete(Filter::default()).await?;
/// drop(unit); // which rolls back
/// assert_eq!(shop.orders.all().count().await?, 3);
/// # Ok(()) });
/// ```
#[must_use = "a transaction is rolled back when it is dropped"]
pub struct CollectionsTransaction {
    collections: Collections,
    bound: Arc<Bound>,
}

impl CollectionsTransaction {
    /// Makes the writes visible and durable, as [`TransactionGuard::commit`](crate::TransactionGuard::commit) does.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, mql::Filter};
    ///
    /// let unit = Collections::of(&shop).begin().await?;
    /// unit.collection("orders").delete(Filter::default()).await?;
    /// unit.commit().await?;
    /// assert_eq!(shop.orders.all().count().await?, 0);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of that.
    pub async fn commit(self) -> Result<()> {
        self.bound.commit().await
    }

    /// Commits as [`commit`](CollectionsTransaction::commit) does, and records that the part of a command is [done](Collections::done), if it has
    /// written something: for servers, whose client sends its commit again if it has got no answer.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::rawdoc, collections::Retryable};
    ///
    /// let collections = Collections::of(&shop);
    /// let part = Retryable { caller: "a client".into(), command: 7, begin: 0, end: 1 };
    /// let unit = collections.begin().await?;
    /// unit.collection("notes").insert([rawdoc! { "_id": 1 }]).await?;
    /// unit.commit_once(part.clone()).await?;
    /// assert!(collections.done(&part).await?.is_some());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`commit`](CollectionsTransaction::commit); `Stale` if the part is done already, or the caller has sent a later command.
    pub async fn commit_once(self, part: Retryable) -> Result<()> {
        // A transaction that has written nothing has nothing to be carried out twice, and loses no conflict.
        if self.bound.has_written() {
            self.collections.session.record_done(part).await?;
        }
        self.commit().await
    }

    /// Rolls back the writes.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, mql::Filter};
    ///
    /// let unit = Collections::of(&shop).begin().await?;
    /// unit.collection("orders").delete(Filter::default()).await?;
    /// unit.rollback().await?;
    /// assert_eq!(shop.orders.all().count().await?, 3);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`TransactionGuard::rollback`](crate::TransactionGuard::rollback).
    pub async fn rollback(self) -> Result<()> {
        self.bound.rollback().await
    }
}

impl Deref for CollectionsTransaction {
    type Target = Collections;

    fn deref(&self) -> &Collections {
        &self.collections
    }
}

impl fmt::Debug for CollectionsTransaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CollectionsTransaction")
            .finish_non_exhaustive()
    }
}

impl Drop for CollectionsTransaction {
    fn drop(&mut self) {
        self.bound.abandon();
    }
}
