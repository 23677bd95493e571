//! A transaction: of a unit, which the writer runs, or driven by a caller, on a state of its own.
//!
//! A transaction of a caller holds up nobody. It records its reads, and its commit, in a group of the writer, finds out whether that
//! has changed since it began.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use bson::RawBson;
use odm_mql::Collation;
use odm_store::{
    Aggregate, CollectionChange, CollectionSpec, CollectionWrites, Cost, DeleteWrite, Deleted,
    Durability, Each, Error, ErrorKind, Explain, FeedChanges, Find, FindByKey, Locks, Reader,
    Result, Transaction, TransactionOptions, UnitOfWork, UpdateWrite, Updated,
};
use tokio::sync::oneshot;

use super::{
    Handle,
    queue::Request,
    reads::ReadSet,
    reservations::{LostReads, Reservation},
    schema::Schema,
    snapshot::OpenTransaction,
    wait::end_of,
    work::Work,
};

/// A transaction on uncommitted work.
pub(super) struct EmbeddedTransaction {
    pub(super) work: Work,
    /// `None` in a unit, which the writer commits.
    caller: Option<Caller>,
}

/// The part of a transaction that a caller drives.
struct Caller {
    /// The store lives as long as its transactions.
    store: Arc<Handle>,
    durability: Durability,
    reads: Arc<ReadSet>,
    /// Makes the writes again.
    rewrites: Option<Arc<dyn UnitOfWork>>,
    limit: Duration,
    expires: Option<Instant>,
    open: OpenTransaction,
    /// The entries on which the caller has lost before.
    lost: Option<Arc<LostReads>>,
    reservation: Option<Arc<Reservation>>,
}

/// A transaction of a caller that is to be committed.
pub(super) struct PendingCommit {
    pub(super) work: Work,
    pub(super) reads: Arc<ReadSet>,
    pub(super) rewrites: Option<Arc<dyn UnitOfWork>>,
    pub(super) durability: Durability,
    /// The entries on which the caller has lost before.
    pub(super) lost: Option<Arc<LostReads>>,
    /// Whether it waits for the reservations of others.
    pub(super) waits: bool,
    /// Until it has ended, others leave the entries to it.
    _reservation: Option<Arc<Reservation>>,
    /// The changes since its begin are known until it has ended.
    _open: OpenTransaction,
}

impl EmbeddedTransaction {
    /// Creates the transaction of the units of a group.
    pub(super) fn for_units(work: Work) -> EmbeddedTransaction {
        EmbeddedTransaction { work, caller: None }
    }

    /// Begins a transaction of a caller, on the newest published state.
    pub(super) async fn begin(store: &Arc<Handle>, options: TransactionOptions) -> Result<Self> {
        let TransactionOptions {
            durability, lost, ..
        } = options;
        let lost = lost.as_ref().and_then(LostReads::of);
        let (state, open, reservation) = match &lost {
            Some(lost) if lost.is_reserved() => {
                let (reply, answer) = oneshot::channel();
                let lost = lost.clone();
                let request = Request::Reserve { lost, reply };
                let (state, open, reservation) = store.ask(request, answer).await?;
                (state, open, Some(reservation))
            }
            _ => {
                let (state, open) = store.published.begin()?;
                (state, open, None)
            }
        };
        let reads = Arc::new(ReadSet::default());
        let limit = state.settings.transaction_limit;
        let mut work = Work::new(state, store.published.feed.begin());
        work.reads = Some(reads.clone());
        Ok(EmbeddedTransaction {
            work,
            caller: Some(Caller {
                store: store.clone(),
                durability,
                reads,
                rewrites: None,
                limit,
                expires: end_of(limit),
                open,
                lost,
                reservation,
            }),
        })
    }

    /// Begins a call that writes.
    fn begin_write(&mut self) -> Result<()> {
        self.begin_call()?;
        self.work.begin_call()
    }

    fn begin_call(&self) -> Result<()> {
        match &self.caller {
            None => self.work.check_time()?,
            Some(caller) => caller.check()?,
        }
        self.work.check_usable()
    }
}

impl Caller {
    /// Refuses everything once the store is closed, or the transaction was open for too long.
    fn check(&self) -> Result<()> {
        self.store.check_process()?;
        if self.store.published.get().is_err() {
            return Err(Error::new(
                ErrorKind::Closed,
                "transaction rolled back: the store was closed",
            ));
        }
        if self.expires.is_some_and(|expires| Instant::now() > expires) {
            return Err(Error::new(
                ErrorKind::TransactionExpired,
                format!(
                    "transaction expired: it was open for more than {:?} and was rolled back; do less in it, or raise \
                     `transaction_limit`",
                    self.limit
                ),
            ));
        }
        Ok(())
    }
}

#[async_trait]
impl Reader for EmbeddedTransaction {
    async fn get(&self, collection: &str, ids: &[RawBson], each: Each<'_>) -> Result<Cost> {
        self.begin_call()?;
        self.work.reading().get(collection, ids, each).await
    }

    async fn find(&self, find: &Find, each: Each<'_>) -> Result<Cost> {
        self.begin_call()?;
        self.work.reading().find(find, each).await
    }

    async fn find_by_key(&self, find: &FindByKey, each: Each<'_>) -> Result<Cost> {
        self.begin_call()?;
        self.work.reading().find_by_key(find, each).await
    }

    async fn count(&self, find: &Find) -> Result<(u64, Cost)> {
        self.begin_call()?;
        self.work.reading().count(find).await
    }

    async fn count_by_key(&self, find: &FindByKey) -> Result<(Vec<u64>, Cost)> {
        self.begin_call()?;
        self.work.reading().count_by_key(find).await
    }

    async fn aggregate(&self, aggregate: &Aggregate, each: Each<'_>) -> Result<Cost> {
        self.begin_call()?;
        self.work.reading().aggregate(aggregate, each).await
    }

    async fn explain(&self, find: &Find) -> Result<Explain> {
        self.begin_call()?;
        self.work.reading().explain(find).await
    }

    async fn index_of(&self, find: &Find) -> Result<Option<String>> {
        self.begin_call()?;
        Ok(self.work.reading().index_of(find))
    }

    async fn default_collation(&self, collection: &str) -> Result<Option<Collation>> {
        self.begin_call()?;
        Ok(self.work.schema.default_collation(collection))
    }
}

#[async_trait]
impl Transaction for EmbeddedTransaction {
    async fn apply(&mut self, batch: &[CollectionWrites<'_>]) -> Result<Cost> {
        self.begin_write()?;
        self.work.apply(batch)
    }

    async fn update(&mut self, write: &UpdateWrite) -> Result<Updated> {
        self.begin_write()?;
        self.work.update(write).await
    }

    async fn delete(&mut self, write: &DeleteWrite) -> Result<Deleted> {
        self.begin_write()?;
        self.work.delete(write).await
    }

    async fn change_collections(&mut self, changes: &[CollectionChange]) -> Result<()> {
        self.begin_write()?;
        self.work.change_collections(changes)
    }

    async fn collections(&self) -> Result<Vec<CollectionSpec>> {
        self.begin_call()?;
        Ok(self.work.schema.specs())
    }

    async fn has_made(&self, collection: &str) -> Result<bool> {
        self.begin_call()?;
        let is_in = |schema: &Schema| schema.collection(collection).is_some();
        Ok(is_in(&self.work.schema) && !is_in(&self.work.base.schema))
    }

    fn changes(&mut self) -> Option<&mut FeedChanges> {
        Some(&mut self.work.changes)
    }

    fn locks(&mut self) -> Option<&mut Locks> {
        None
    }

    fn set_reads_for_writes(&mut self, is_for_writes: bool) {
        if let Some(caller) = &self.caller {
            caller.reads.set_for_writes(is_for_writes);
        }
    }

    fn set_rewrites(&mut self, rewrites: Arc<dyn UnitOfWork>) {
        if let Some(caller) = &mut self.caller {
            caller.rewrites = Some(rewrites);
        }
    }

    async fn commit(self: Box<Self>) -> Result<()> {
        let EmbeddedTransaction { work, caller } = *self;
        let caller = caller.ok_or_else(not_its_own)?;
        caller.check()?;
        work.check_usable()?;
        if work.overlay.is_empty() {
            // It has read one state, which is durable.
            return Ok(());
        }
        let Caller {
            store,
            durability,
            reads,
            rewrites,
            open,
            lost,
            reservation,
            ..
        } = caller;
        let (reply, answer) = oneshot::channel();
        let pending = Box::new(PendingCommit {
            work,
            reads,
            rewrites,
            durability,
            lost,
            waits: reservation.is_none(),
            _reservation: reservation,
            _open: open,
        });
        // From here on, dropping this future does not stop the commit.
        store
            .commit(Request::Commit { pending, reply }, answer)
            .await
    }

    async fn rollback(self: Box<Self>) -> Result<()> {
        match self.caller {
            None => Err(not_its_own()),
            Some(_) => Ok(()),
        }
    }
}

fn not_its_own() -> Error {
    Error::new(
        ErrorKind::InvalidQuery,
        "a unit of work cannot end its transaction: it is committed when the unit returns",
    )
}
