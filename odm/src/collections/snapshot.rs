//! Snapshots of collections by their names.

use std::{fmt, ops::Deref};

use odm_store::Result;

use super::Collections;
use crate::session::SnapshotGuard;

impl Collections {
    /// Begins a snapshot, whose operations read the state of the data of this moment, and write nothing. Dropping it ends it. The store keeps
    /// that state meanwhile.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, mql::Filter};
    ///
    /// let collections = Collections::of(&shop);
    /// let snapshot = collections.snapshot().await?;
    /// collections.collection("orders").delete(Filter::default()).await?;
    /// assert_eq!(snapshot.collection("orders").find(Filter::default()).count().await?, 3);
    /// assert_eq!(collections.collection("orders").find(Filter::default()).count().await?, 0);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of the store.
    pub async fn snapshot(&self) -> Result<CollectionsSnapshot> {
        self.session.follow_catalog().await?;
        let (session, ending) = self.session.snapshot().await?;
        Ok(CollectionsSnapshot {
            collections: Collections { session },
            _ending: ending,
        })
    }
}

/// A snapshot of [`Collections`], from [`Collections::snapshot`]. It derefs to the collections in it.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::{Collections, ErrorKind, mql::Filter};
///
/// let snapshot = Collections::of(&shop).snapshot().await?;
/// let orders = snapshot.collection("orders");
/// assert_eq!(orders.delete(Filter::default()).await.unwrap_err().kind(), ErrorKind::ReadOnly);
/// drop(snapshot);
/// assert_eq!(orders.find(Filter::default()).await.unwrap_err().kind(), ErrorKind::SnapshotEnded);
/// # Ok(()) });
/// ```
#[must_use = "a snapshot ends when it is dropped"]
pub struct CollectionsSnapshot {
    collections: Collections,
    _ending: SnapshotGuard,
}

impl Deref for CollectionsSnapshot {
    type Target = Collections;

    fn deref(&self) -> &Collections {
        &self.collections
    }
}

impl fmt::Debug for CollectionsSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CollectionsSnapshot")
            .finish_non_exhaustive()
    }
}
