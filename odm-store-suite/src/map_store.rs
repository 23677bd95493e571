//! A second store, made from the contract of [`Store`] alone: ordered maps in memory.
//!
//! Transactions run side by side, each on a snapshot, and the first to commit wins. There are two kinds. One works like a server, and finds
//! conflicts between writes and between locks. The other one is serializable, and finds all that a transaction has read and others have
//! changed since. Queries scan the collection.

mod read;
mod reads;
mod state;
mod transaction;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use odm_store::{
    Capabilities, CollectionSpec, CollectionWrites, CommitTime, CommitWatch, DocumentWrite,
    Durability, Error, ErrorKind, Feed, OtherEpoch, Reader, Result, SingleWrite,
    SingleWriteRequest, Store, StoreId, StoreWatch, Transaction, TransactionOptions, UnitOfWork,
    Updated, WatchRequest,
};

use self::{state::State, transaction::MapTransaction};

/// A store of ordered maps. A clone is the same store.
#[derive(Debug, Clone)]
pub struct MapStore {
    /// The committed state. `None` once the store is closed.
    current: Arc<Mutex<Option<Arc<State>>>>,
    id: StoreId,
    /// Each call of a transaction lets other tasks run before it.
    is_stepped: bool,
    ignores_locks: bool,
    single_writes: Option<SingleWriteTiming>,
    /// The order of the commits of a serializable store.
    order: Option<CommitOrder>,
}

/// The order of the commits of a serializable store, in which its feed tells of them.
#[derive(Debug, Clone, Default)]
struct CommitOrder {
    feed: Feed,
    /// Held from the check of a commit until its changes are published, and never across an await.
    turn: Arc<Mutex<()>>,
}

impl CommitOrder {
    fn take(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The settings of single writes.
#[derive(Debug, Clone, Copy)]
struct SingleWriteTiming {
    /// How long they may be under way.
    limit: Duration,
    /// How long each waits between its check of the epoch and its write.
    pause: Duration,
}

impl MapStore {
    /// Creates an empty store that applies the writes of a batch one after another, and has single writes, as a server does.
    pub fn new() -> Self {
        MapStore::with_single_writes(Duration::from_millis(20), Duration::ZERO)
    }

    /// Creates an empty store with single writes, which may be under way for up to `limit`, and which wait for `pause` between the check of
    /// their epoch and their write.
    pub fn with_single_writes(limit: Duration, pause: Duration) -> Self {
        MapStore {
            current: Arc::new(Mutex::new(Some(Arc::default()))),
            id: StoreId::new(),
            is_stepped: false,
            ignores_locks: false,
            single_writes: Some(SingleWriteTiming { limit, pause }),
            order: None,
        }
    }

    /// Creates an empty store for a test that polls futures in an order of its own: each call of a transaction is pending once, without a
    /// wake-up, and each write is in a transaction.
    pub fn stepped() -> Self {
        MapStore {
            is_stepped: true,
            single_writes: None,
            ..MapStore::new()
        }
    }

    /// Returns the store without locks: with snapshot isolation alone.
    pub fn ignoring_locks(self) -> Self {
        MapStore {
            ignores_locks: true,
            ..self
        }
    }

    /// Returns the store with serializable transactions, without locks and single writes, and with a feed. The commit of a transaction that
    /// writes fails if others have committed a change since of a document that it has read, or one that comes into or out of an answer that
    /// it had.
    pub fn serializable(self) -> Self {
        MapStore {
            single_writes: None,
            order: Some(CommitOrder::default()),
            ..self
        }
    }

    /// Returns a new store with the same documents.
    pub fn copy(&self) -> Self {
        let current = self.current().clone();
        MapStore {
            current: Arc::new(Mutex::new(current)),
            ..self.clone()
        }
    }

    /// Goes back to the documents of a copy.
    pub fn restore(&self, copy: &MapStore) {
        let state = copy.current().clone();
        *self.current() = state;
    }

    async fn step(&self) {
        if self.is_stepped {
            let mut is_pending = true;
            std::future::poll_fn(|_| match std::mem::take(&mut is_pending) {
                true => Poll::Pending,
                false => Poll::Ready(()),
            })
            .await;
        }
    }

    /// Runs a write in a transaction, unless it has taken too long.
    async fn write_until(&self, write: &SingleWrite, until: Instant) -> Result<Option<Updated>> {
        loop {
            let mut transaction = self.open_transaction()?;
            let written = write_in(&mut transaction, write).await;
            let Some(updated) = written.ok().flatten() else {
                return Ok(None);
            };
            if Instant::now() > until {
                return Ok(None);
            }
            match transaction.finish() {
                Err(error) if error.is_retryable() => {}
                result => return result.map(|()| Some(updated)),
            }
        }
    }

    /// The committed state. The lock is held for a moment, and never across an await.
    fn current(&self) -> MutexGuard<'_, Option<Arc<State>>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn snapshot(&self) -> Result<Arc<State>> {
        self.current().clone().ok_or_else(closed)
    }

    fn open_transaction(&self) -> Result<MapTransaction> {
        Ok(MapTransaction::new(self.clone(), self.snapshot()?))
    }
}

impl Default for MapStore {
    fn default() -> Self {
        MapStore::new()
    }
}

/// Runs a write. Returns `None` if there is no document to change.
async fn write_in(
    transaction: &mut MapTransaction,
    write: &SingleWrite,
) -> Result<Option<Updated>> {
    Ok(match write {
        SingleWrite::Insert {
            collection,
            document,
        } => {
            let writes = vec![DocumentWrite::Insert(document)];
            let batch = [CollectionWrites { collection, writes }];
            Some(Updated {
                inserted: true,
                cost: transaction.apply(&batch).await?,
                ..Updated::default()
            })
        }
        SingleWrite::Update(write) => {
            let updated = transaction.update(write).await?;
            (updated.matched > 0 || updated.inserted).then_some(updated)
        }
        SingleWrite::Delete(write) => {
            let deleted = transaction.delete(write).await?;
            Some(Updated {
                matched: deleted.removed,
                modified: deleted.removed,
                cost: deleted.cost,
                ..Updated::default()
            })
        }
    })
}

fn closed() -> Error {
    Error::new(ErrorKind::Closed, "store closed: make a new one")
}

fn is_of_other_epoch(error: &Error) -> bool {
    let source = std::error::Error::source(error);
    source.is_some_and(|source| source.is::<OtherEpoch>())
}

#[async_trait]
impl Store for MapStore {
    fn capabilities(&self) -> Capabilities {
        let capabilities = Capabilities::default()
            .ignores_case()
            .collations()
            .id(self.id);
        let capabilities = capabilities.outer_writes();
        let mut capabilities = match self.order {
            Some(_) => capabilities.serializable(),
            None => capabilities.several_programs(),
        };
        if let Some(timing) = self.single_writes {
            capabilities = capabilities.single_document_writes(timing.limit);
        }
        capabilities
    }

    fn reader(&self) -> Result<Arc<dyn Reader>> {
        Ok(self.snapshot()?)
    }

    async fn ensure(&self, collections: &[CollectionSpec]) -> Result<()> {
        let mut current = self.current();
        let mut state = State::clone(current.as_deref().ok_or_else(closed)?);
        for spec in collections {
            state.ensure(spec)?;
        }
        *current = Some(Arc::new(state));
        Ok(())
    }

    async fn collections(&self) -> Result<Vec<CollectionSpec>> {
        Ok(self.snapshot()?.specs())
    }

    async fn run(&self, unit: Arc<dyn UnitOfWork>, _: Durability) -> Result<()> {
        loop {
            let mut transaction = self.open_transaction()?;
            unit.run(&mut transaction).await?;
            // A conflict means that another transaction has committed, so all together make progress.
            match transaction.finish() {
                // In another epoch a different unit is needed.
                Err(error) if error.is_retryable() && !is_of_other_epoch(&error) => {}
                result => return result,
            }
        }
    }

    async fn write_single(
        &self,
        write: &SingleWriteRequest,
        _: Durability,
    ) -> Result<Option<Updated>> {
        let Some(timing) = self.single_writes else {
            return Ok(None);
        };
        let begin = Instant::now();
        let current = self.snapshot()?.epoch();
        if write.epoch.is_some_and(|epoch| current != epoch) {
            return Err(OtherEpoch.into());
        }
        match timing.pause.is_zero() {
            true => tokio::task::yield_now().await,
            false => tokio::time::sleep(timing.pause).await,
        }
        let until = begin + timing.limit * 3 / 4;
        self.write_until(&write.write, until).await
    }

    async fn begin(&self, _: TransactionOptions) -> Result<Box<dyn Transaction>> {
        Ok(Box::new(self.open_transaction()?))
    }

    async fn watch(&self, request: &WatchRequest) -> Result<StoreWatch> {
        match &self.order {
            Some(order) => order.feed.watch(self, request).await,
            None => Err(Error::new(
                ErrorKind::InvalidQuery,
                format!(
                    "watch of `{}` refused: make the store with `serializable()`",
                    request.collection
                ),
            )),
        }
    }

    async fn watch_commits(&self, after: Option<CommitTime>) -> Result<CommitWatch> {
        match &self.order {
            Some(order) => order.feed.watch_commits(self, after).await,
            None => Err(Error::new(
                ErrorKind::InvalidQuery,
                "watch of all collections refused: make the store with `serializable()`",
            )),
        }
    }

    fn forget_commits(&self) {
        if let Some(order) = &self.order {
            order.feed.forget_commits();
        }
    }

    async fn close(&self) -> Result<()> {
        *self.current() = None;
        if let Some(order) = &self.order {
            order.feed.close();
        }
        Ok(())
    }
}
