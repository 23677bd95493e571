//! A transaction: of a unit, on the writer's thread, or driven by a caller.

use std::sync::Arc;

use async_trait::async_trait;
use bson::RawBson;
use odm_store::{
    Aggregate, CollectionChange, CollectionWrites, Cost, DeleteWrite, Deleted, Each, Error,
    ErrorKind, Explain, FeedChanges, Find, FindByKey, Locks, Reader, Result, Transaction,
    UpdateWrite, Updated,
};
use tokio::sync::oneshot;

use super::{
    Handle,
    lease::{CallInProgress, LeaseState},
    work::Work,
};

/// A transaction on uncommitted work.
pub(super) struct EmbeddedTransaction {
    pub(super) work: Work,
    /// `None` on the writer's thread, where the writer commits.
    lease: Option<Lease>,
}

/// The right to write alone for a limited time.
pub(super) struct Lease {
    /// The channel for the end of the transaction. Dropping it has the effect of a rollback.
    outcome: oneshot::Sender<Outcome>,
    state: Arc<LeaseState>,
    /// The store lives as long as its transactions.
    _store: Arc<Handle>,
}

/// The end of a transaction.
pub(super) enum Outcome {
    Commit(Box<Work>, oneshot::Sender<Result<()>>),
    /// The answer waits until all data that the transaction has read is durable.
    Rollback(oneshot::Sender<Result<()>>),
}

impl Lease {
    pub(super) fn new(
        outcome: oneshot::Sender<Outcome>,
        state: Arc<LeaseState>,
        store: Arc<Handle>,
    ) -> Self {
        Lease {
            outcome,
            state,
            _store: store,
        }
    }
}

impl EmbeddedTransaction {
    /// Creates the transaction of the units of a group, on the writer's thread.
    pub(super) fn for_units(work: Work) -> EmbeddedTransaction {
        EmbeddedTransaction { work, lease: None }
    }

    pub(super) fn for_caller(work: Work, lease: Lease) -> EmbeddedTransaction {
        EmbeddedTransaction {
            work,
            lease: Some(lease),
        }
    }

    /// Begins a call that writes.
    fn begin_write(&mut self) -> Result<Option<CallInProgress>> {
        let call = self.begin_call()?;
        self.work.begin_call()?;
        Ok(call)
    }

    /// Begins a call, if the transaction is still the one that writes. Only the writer ends it; a call that began before that goes on, and
    /// its work is never committed.
    fn begin_call(&self) -> Result<Option<CallInProgress>> {
        let call = match &self.lease {
            None => {
                self.work.check_time()?;
                None
            }
            Some(lease) if lease.outcome.is_closed() => return Err(lease.state.error()),
            Some(lease) => Some(lease.state.begin_call()),
        };
        self.work.check_usable()?;
        Ok(call)
    }
}

#[async_trait]
impl Reader for EmbeddedTransaction {
    async fn get(&self, collection: &str, ids: &[RawBson], each: Each<'_>) -> Result<Cost> {
        let _call = self.begin_call()?;
        self.work.reading().get(collection, ids, each).await
    }

    async fn find(&self, find: &Find, each: Each<'_>) -> Result<Cost> {
        let _call = self.begin_call()?;
        self.work.reading().find(find, each).await
    }

    async fn find_by_key(&self, find: &FindByKey, each: Each<'_>) -> Result<Cost> {
        let _call = self.begin_call()?;
        self.work.reading().find_by_key(find, each).await
    }

    async fn count(&self, find: &Find) -> Result<(u64, Cost)> {
        let _call = self.begin_call()?;
        self.work.reading().count(find).await
    }

    async fn count_by_key(&self, find: &FindByKey) -> Result<(Vec<u64>, Cost)> {
        let _call = self.begin_call()?;
        self.work.reading().count_by_key(find).await
    }

    async fn aggregate(&self, aggregate: &Aggregate, each: Each<'_>) -> Result<Cost> {
        let _call = self.begin_call()?;
        self.work.reading().aggregate(aggregate, each).await
    }

    async fn explain(&self, find: &Find) -> Result<Explain> {
        let _call = self.begin_call()?;
        self.work.reading().explain(find).await
    }

    async fn index_of(&self, find: &Find) -> Result<Option<String>> {
        let _call = self.begin_call()?;
        Ok(self.work.reading().index_of(find))
    }
}

#[async_trait]
impl Transaction for EmbeddedTransaction {
    async fn apply(&mut self, batch: &[CollectionWrites<'_>]) -> Result<Cost> {
        let _call = self.begin_write()?;
        self.work.apply(batch)
    }

    async fn update(&mut self, write: &UpdateWrite) -> Result<Updated> {
        let _call = self.begin_write()?;
        self.work.update(write).await
    }

    async fn delete(&mut self, write: &DeleteWrite) -> Result<Deleted> {
        let _call = self.begin_write()?;
        self.work.delete(write).await
    }

    async fn change_collections(&mut self, changes: &[CollectionChange]) -> Result<()> {
        let _call = self.begin_write()?;
        self.work.change_collections(changes)
    }

    fn changes(&mut self) -> Option<&mut FeedChanges> {
        Some(&mut self.work.changes)
    }

    fn locks(&mut self) -> Option<&mut Locks> {
        None
    }

    async fn commit(self: Box<Self>) -> Result<()> {
        let EmbeddedTransaction { work, lease } = *self;
        let Some(lease) = lease else {
            return Err(not_its_own());
        };
        let (reply, answer) = oneshot::channel();
        let Lease {
            outcome,
            state,
            _store,
        } = lease;
        // Either the writer takes the work, and answers, or the lease has ended already. From here on, dropping this future does not stop
        // the commit.
        match outcome.send(Outcome::Commit(Box::new(work), reply)) {
            Ok(()) => answer.await.unwrap_or_else(|_| Err(state.error())),
            Err(_) => Err(state.error()),
        }
    }

    async fn rollback(self: Box<Self>) -> Result<()> {
        match self.lease {
            None => Err(not_its_own()),
            Some(lease) => {
                let (reply, answer) = oneshot::channel();
                match lease.outcome.send(Outcome::Rollback(reply)) {
                    Ok(()) => answer.await.unwrap_or_else(|_| Err(lease.state.error())),
                    // The lease has expired, and the transaction was rolled back then.
                    Err(_) => Ok(()),
                }
            }
        }
    }
}

fn not_its_own() -> Error {
    Error::new(
        ErrorKind::InvalidQuery,
        "a unit of work cannot end its transaction: it is committed when the unit returns",
    )
}
