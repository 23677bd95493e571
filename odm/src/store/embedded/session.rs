//! A transaction: that of a unit, on the writer's thread, or one that a caller drives.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;
use bson::RawBson;
use tokio::sync::oneshot;

use super::{Handle, work::Work};
use crate::{
    error::{Error, ErrorKind, Result},
    store::{
        CollectionWrites, Cost, DeleteWrite, Deleted, Each, Explain, Find, FindByKey, Reader,
        Transaction, UpdateWrite, Updated,
    },
};

/// A transaction on uncommitted work.
pub(super) struct Session {
    pub(super) work: Work,
    /// `None` on the writer's thread, where the writer commits.
    lease: Option<Lease>,
}

/// The right to write alone for a limited time.
pub(super) struct Lease {
    /// The channel for the end of the transaction. Dropping it has the effect of a rollback.
    outcome: oneshot::Sender<Outcome>,
    expired: Arc<AtomicBool>,
    /// The store lives as long as its transactions.
    _store: Arc<Handle>,
}

/// The end of a transaction.
pub(super) enum Outcome {
    Commit(Box<Work>, oneshot::Sender<Result<()>>),
    Rollback,
}

impl Lease {
    pub(super) fn new(
        outcome: oneshot::Sender<Outcome>,
        expired: Arc<AtomicBool>,
        store: Arc<Handle>,
    ) -> Self {
        Lease {
            outcome,
            expired,
            _store: store,
        }
    }
}

/// The error of a transaction whose lease has ended.
fn ended(expired: &AtomicBool) -> Error {
    if expired.load(Ordering::Acquire) {
        return Error::new(
            ErrorKind::TransactionExpired,
            "transaction expired: it was open for too long and was rolled back",
        );
    }
    Error::new(
        ErrorKind::Closed,
        "transaction rolled back: the store was closed",
    )
}

impl Session {
    /// Creates the transaction of the units of a group, on the writer's thread.
    pub(super) fn for_units(work: Work) -> Session {
        Session { work, lease: None }
    }

    pub(super) fn for_caller(work: Work, lease: Lease) -> Session {
        Session {
            work,
            lease: Some(lease),
        }
    }

    /// Begins a write.
    fn begin_write(&mut self) -> Result<&mut Work> {
        self.live()?;
        self.work.begin_call()?;
        Ok(&mut self.work)
    }

    /// Whether the transaction is still the one that writes. The writer alone decides when it is
    /// not; a call that began before that goes on, and its work is never committed.
    fn live(&self) -> Result<()> {
        match &self.lease {
            Some(lease) if lease.outcome.is_closed() => Err(ended(&lease.expired)),
            _ => self.work.check_usable(),
        }
    }
}

#[async_trait]
impl Reader for Session {
    async fn get(&self, collection: &str, ids: &[RawBson], each: Each<'_>) -> Result<Cost> {
        self.live()?;
        self.work.reading().get(collection, ids, each).await
    }

    async fn find(&self, find: &Find, each: Each<'_>) -> Result<Cost> {
        self.live()?;
        self.work.reading().find(find, each).await
    }

    async fn find_by_key(&self, find: &FindByKey, each: Each<'_>) -> Result<Cost> {
        self.live()?;
        self.work.reading().find_by_key(find, each).await
    }

    async fn count(&self, find: &Find) -> Result<(u64, Cost)> {
        self.live()?;
        self.work.reading().count(find).await
    }

    async fn count_by_key(&self, find: &FindByKey) -> Result<(Vec<u64>, Cost)> {
        self.live()?;
        self.work.reading().count_by_key(find).await
    }

    async fn explain(&self, find: &Find) -> Result<Explain> {
        self.live()?;
        self.work.reading().explain(find).await
    }
}

#[async_trait]
impl Transaction for Session {
    async fn apply(&mut self, batch: &[CollectionWrites<'_>]) -> Result<Cost> {
        self.begin_write()?.apply(batch)
    }

    async fn update(&mut self, write: &UpdateWrite) -> Result<Updated> {
        self.begin_write()?.update(write).await
    }

    async fn delete(&mut self, write: &DeleteWrite) -> Result<Deleted> {
        self.begin_write()?.delete(write).await
    }

    async fn commit(self: Box<Self>) -> Result<()> {
        let Session { work, lease } = *self;
        let Some(lease) = lease else {
            return Err(not_its_own());
        };
        let (reply, answer) = oneshot::channel();
        let Lease {
            outcome,
            expired,
            _store,
        } = lease;
        // Either the writer takes the work, and answers, or the lease was over before. From here
        // on, dropping this future does not stop the commit.
        match outcome.send(Outcome::Commit(Box::new(work), reply)) {
            Ok(()) => answer.await.unwrap_or_else(|_| Err(ended(&expired))),
            Err(_) => Err(ended(&expired)),
        }
    }

    async fn rollback(self: Box<Self>) -> Result<()> {
        match self.lease {
            None => Err(not_its_own()),
            Some(lease) => {
                // Whether the writer still waits or not: nothing of the work was stored.
                let _ = lease.outcome.send(Outcome::Rollback);
                Ok(())
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
