//! The transaction that a session is bound to.

use std::{
    mem,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use bson::RawBson;
use futures_core::future::BoxFuture;
use odm_mql::Collation;
use odm_store::{
    Aggregate, Cost, Each, Error, ErrorKind, Explain, Find, FindByKey, Reader, Result, Transaction,
};
use tokio::sync::MutexGuard;

use super::outbox::Outbox;
use crate::{
    catalog::Catalog,
    maintain::{Job, Rewrites},
};

/// A transaction, shared by the repositories that are bound to it.
///
/// A transaction that has failed cannot commit: the first failure is kept, and every later operation
/// gets it.
pub(crate) struct Bound {
    /// Empty once the transaction has ended. Operations of one transaction wait for each other.
    transaction: tokio::sync::Mutex<Option<Box<dyn Transaction>>>,
    state: Mutex<BoundState>,
    /// Notified when the transaction is committed, if it has left refreshes to the worker.
    outbox: Arc<Outbox>,
}

#[derive(Default)]
struct BoundState {
    /// Why the transaction cannot commit.
    failure: Option<Error>,
    /// Whether the transaction was dropped, and is rolled back as soon as no operation holds it.
    abandoned: bool,
    /// Whether refreshes are left to the worker of the outbox.
    has_queued: bool,
    writes: BoundWrites,
}

/// Whether the writes of a transaction can be made again, and which they are.
enum BoundWrites {
    Repeatable(Rewrites),
    Unrepeatable,
}

impl Default for BoundWrites {
    fn default() -> Self {
        BoundWrites::Repeatable(Rewrites::default())
    }
}

impl Bound {
    pub(super) fn new(transaction: Box<dyn Transaction>, outbox: Arc<Outbox>) -> Self {
        Bound {
            transaction: tokio::sync::Mutex::new(Some(transaction)),
            state: Mutex::default(),
            outbox,
        }
    }

    /// Waits for other operations, and takes the transaction for one operation.
    pub(super) fn lock(&self) -> BoxFuture<'_, Result<LockedTransaction<'_>>> {
        Box::pin(async move {
            let locked = LockedTransaction {
                bound: self,
                transaction: self.transaction.lock().await,
            };
            if self.state().abandoned || locked.transaction.is_none() {
                return Err(ended());
            }
            match self.failure() {
                Some(failure) => Err(aborted(&failure)),
                None => Ok(locked),
            }
        })
    }

    fn state(&self) -> std::sync::MutexGuard<'_, BoundState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a commit impossible. The first reason is kept.
    pub(crate) fn abort(&self, error: &Error) {
        self.state().failure.get_or_insert_with(|| error.clone());
    }

    /// Records that refreshes are left to the worker of the outbox.
    pub(super) fn has_queued(&self) {
        self.state().has_queued = true;
    }

    /// Records a write, so that the store can make it again; `None` if it has failed, and the transaction goes on.
    pub(super) fn record<W: Job>(
        &self,
        catalog: &Arc<Catalog>,
        work: &Arc<W>,
        outcome: Option<&W::Outcome>,
    ) {
        let writes = &mut self.state().writes;
        if let BoundWrites::Repeatable(rewrites) = writes {
            let is_repeatable = outcome.is_some_and(|outcome| rewrites.add(catalog, work, outcome));
            if !is_repeatable {
                *writes = BoundWrites::Unrepeatable;
            }
        }
    }

    /// Records a change that cannot be made again.
    pub(super) fn is_unrepeatable(&self) {
        self.state().writes = BoundWrites::Unrepeatable;
    }

    /// Whether a write was made in the transaction.
    pub(crate) fn has_written(&self) -> bool {
        match &self.state().writes {
            BoundWrites::Repeatable(rewrites) => !rewrites.is_empty(),
            BoundWrites::Unrepeatable => true,
        }
    }

    /// Why the transaction cannot commit, if it cannot.
    pub(crate) fn failure(&self) -> Option<Error> {
        self.state().failure.clone()
    }

    pub(crate) async fn commit(&self) -> Result<()> {
        let mut transaction = self.transaction.lock().await.take().ok_or_else(ended)?;
        if let Some(failure) = self.failure() {
            transaction.rollback().await?;
            return Err(aborted(&failure));
        }
        if let BoundWrites::Repeatable(rewrites) = mem::take(&mut self.state().writes) {
            transaction.set_rewrites(Arc::new(rewrites));
        }
        transaction.commit().await?;
        if self.state().has_queued {
            self.outbox.wake.notify_one();
        }
        Ok(())
    }

    pub(crate) async fn rollback(&self) -> Result<()> {
        match self.transaction.lock().await.take() {
            Some(transaction) => transaction.rollback().await,
            None => Ok(()),
        }
    }

    /// Rolls back without waiting: at once, or when the operation that is under way ends.
    pub(crate) fn abandon(&self) {
        self.state().abandoned = true;
        if let Ok(mut transaction) = self.transaction.try_lock() {
            transaction.take();
        }
    }
}

/// The transaction, held by one operation.
///
/// A read through it that fails because the transaction was lost aborts the transaction, so that it is run again as a whole. A read with
/// which the store has ended the transaction aborts it too, but it is not run again.
pub(crate) struct LockedTransaction<'a> {
    bound: &'a Bound,
    /// Never `None`: only the drop of this value, and operations that wait for it, take it.
    transaction: MutexGuard<'a, Option<Box<dyn Transaction>>>,
}

impl LockedTransaction<'_> {
    fn transaction(&self) -> &dyn Transaction {
        let transaction = self.transaction.as_deref();
        transaction.expect("a locked transaction has not ended")
    }

    pub(super) fn get_mut(&mut self) -> &mut dyn Transaction {
        let transaction = self.transaction.as_deref_mut();
        transaction.expect("a locked transaction has not ended")
    }

    fn observe<T>(&self, result: Result<T>) -> Result<T> {
        result.inspect_err(|error| {
            if error.ends_transaction() {
                self.bound.abort(error);
            }
        })
    }
}

impl Drop for LockedTransaction<'_> {
    fn drop(&mut self) {
        // A call that abandoned the transaction meanwhile could not lock it.
        if self.bound.state().abandoned {
            self.transaction.take();
        }
    }
}

#[async_trait]
impl Reader for LockedTransaction<'_> {
    async fn get(&self, collection: &str, ids: &[RawBson], each: Each<'_>) -> Result<Cost> {
        self.observe(self.transaction().get(collection, ids, each).await)
    }

    async fn find(&self, find: &Find, each: Each<'_>) -> Result<Cost> {
        self.observe(self.transaction().find(find, each).await)
    }

    async fn find_by_key(&self, find: &FindByKey, each: Each<'_>) -> Result<Cost> {
        self.observe(self.transaction().find_by_key(find, each).await)
    }

    async fn count(&self, find: &Find) -> Result<(u64, Cost)> {
        self.observe(self.transaction().count(find).await)
    }

    async fn count_by_key(&self, find: &FindByKey) -> Result<(Vec<u64>, Cost)> {
        self.observe(self.transaction().count_by_key(find).await)
    }

    async fn aggregate(&self, aggregate: &Aggregate, each: Each<'_>) -> Result<Cost> {
        self.observe(self.transaction().aggregate(aggregate, each).await)
    }

    async fn explain(&self, find: &Find) -> Result<Explain> {
        self.observe(self.transaction().explain(find).await)
    }

    async fn index_of(&self, find: &Find) -> Result<Option<String>> {
        self.observe(self.transaction().index_of(find).await)
    }

    async fn default_collation(&self, collection: &str) -> Result<Option<Collation>> {
        self.observe(self.transaction().default_collation(collection).await)
    }
}

fn ended() -> Error {
    Error::new(
        ErrorKind::TransactionAborted,
        "transaction ended: use the database outside of it",
    )
}

/// The reason why a transaction in which a write was dropped cannot commit.
pub(super) fn dropped() -> Error {
    Error::new(
        ErrorKind::TransactionAborted,
        "transaction aborted: the future of a write in it was dropped before it ended",
    )
}

fn aborted(failure: &Error) -> Error {
    let is_end = matches!(
        failure.kind(),
        ErrorKind::TransactionAborted | ErrorKind::TransactionExpired
    );
    if failure.is_retryable() || is_end {
        return failure.clone();
    }
    Error::new(
        ErrorKind::TransactionAborted,
        format!("transaction aborted: an operation in it failed: {failure}"),
    )
    .with_source(failure.clone())
}
