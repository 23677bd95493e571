//! The path of an operation: to the store, or to the transaction that it is part of.
//!
//! Everything that a repository reads and writes goes through a [`Session`]. Reads use a [`ReadView`], in which documents have the form of
//! the models: cold parts of split documents are found and loaded as if they were stored in place.

mod bound;
mod check;
mod cold;
mod declare;
mod guard;
mod import;
mod lease;
mod outbox;
mod record;
mod retries;
mod snapshot;
mod sync;
mod users;
mod view;
mod watch;
mod worker;

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Duration,
};

pub(crate) use bound::Bound;
pub(crate) use cold::ColdPart;
pub(crate) use guard::{AbortOnDrop, refuse_inside_transaction, run_inside};
pub(crate) use outbox::Outbox;
pub use retries::{DoneStatements, Retryable};
pub(crate) use snapshot::{Snapshot, SnapshotGuard};
pub(crate) use view::ReadView;
pub(crate) use watch::MatchingChanges;
pub(crate) use worker::Worker;

use futures_core::future::BoxFuture;
use odm_store::{
    CollectionMark, Durability, Error, ErrorKind, OtherEpoch, Reader, Result, Store, StoreSession,
    TransactionOptions,
};

use crate::{
    catalog::{self, Catalog, Model},
    maintain::{
        self, CollectionRights, Job, NamedDocument, NamedWrite, Rights, Write, WriteOutcome,
        WritePlan,
    },
    trace::{Operation, WarningLimits, is_tracing_steps},
};

/// A store with the relations of one database, and the transaction or snapshot that operations are part of.
#[derive(Clone)]
pub struct Session {
    store: Arc<dyn Store>,
    catalog: Arc<SharedCatalog>,
    /// The program: its database and its models.
    program: Arc<ProgramModels>,
    /// Whether a read has to ask the catalog for cold parts. Another database on the store may declare some later that the models of this
    /// one do not know. The same holds for pending fields.
    has_cold_parts: bool,
    has_pending: bool,
    bound: Option<Arc<Bound>>,
    snapshot: Option<Arc<Snapshot>>,
    durability: Durability,
    /// The rights of the caller, for their writes.
    rights: Rights,
    warning_limits: WarningLimits,
    outbox: Arc<Outbox>,
    workers: Option<Arc<Vec<Worker>>>,
    turns: Arc<tokio::sync::Mutex<()>>,
}

/// The turn of a closure that has lost a conflict, until it is dropped.
pub(crate) type Turn = tokio::sync::OwnedMutexGuard<()>;

/// How long a closure that has lost a conflict waits for the others that have: nobody waits longer for a closure.
const LONGEST_TURN: Duration = Duration::from_millis(50);

/// The models of a program, as far as they are not in the catalog.
#[derive(Debug, Clone)]
pub(crate) struct ProgramModels {
    /// The name of the database.
    pub(crate) database: &'static str,
    /// Its version.
    pub(crate) version: u32,
    /// The models, for their checks by functions.
    pub(crate) models: Vec<&'static Model>,
}

/// The catalog of all sessions of a database. Another database on the same store may declare more.
struct SharedCatalog {
    newest: RwLock<Arc<Catalog>>,
    /// The mark of the stored catalog in a state of the store, and its epoch there.
    seen: Mutex<Option<(CollectionMark, i64)>>,
}

impl SharedCatalog {
    fn new(catalog: Arc<Catalog>) -> Self {
        SharedCatalog {
            newest: RwLock::new(catalog),
            seen: Mutex::default(),
        }
    }

    /// Whether a mark is known to be that of an epoch.
    fn has_seen(&self, mark: Option<&CollectionMark>, epoch: i64) -> bool {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = seen.as_ref().zip(mark);
        seen.is_some_and(|((seen, of), mark)| seen == mark && *of == epoch)
    }

    fn see(&self, mark: Option<CollectionMark>, epoch: i64) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        *seen = mark.map(|mark| (mark, epoch));
    }
}

impl Session {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        catalog: Catalog,
        program: ProgramModels,
        warning_limits: WarningLimits,
    ) -> Self {
        let catalog = catalog.for_program(&program.models);
        Session {
            store,
            program: Arc::new(program),
            has_cold_parts: catalog.has_splits(),
            has_pending: !catalog.pending().is_empty(),
            catalog: Arc::new(SharedCatalog::new(Arc::new(catalog))),
            bound: None,
            snapshot: None,
            durability: Durability::default(),
            rights: None,
            warning_limits,
            outbox: Outbox::new(),
            workers: None,
            turns: Arc::default(),
        }
    }

    /// Waits for the closures of this program that have lost a conflict before, which would make each other lose again. `None` if that takes
    /// long, and on a store on which other programs win conflicts, too.
    pub(crate) async fn turn(&self) -> Option<Turn> {
        if self.store.capabilities().several_programs {
            return None;
        }
        let turn = self.turns.clone().lock_owned();
        tokio::time::timeout(LONGEST_TURN, turn).await.ok()
    }

    /// Begins a transaction of the durability of the session, and returns the session with its operations in it.
    pub(crate) async fn begin(&self) -> Result<(Self, Arc<Bound>)> {
        self.begin_after(None).await
    }

    /// Does so to try work again that has ended with an error.
    pub(crate) async fn begin_after(&self, lost: Option<Error>) -> Result<(Self, Arc<Bound>)> {
        self.begin_in(None, lost).await
    }

    /// Does so in a session of the store.
    async fn begin_in(
        &self,
        session: Option<&dyn StoreSession>,
        lost: Option<Error>,
    ) -> Result<(Self, Arc<Bound>)> {
        self.keep_workers();
        self.refuse_in_snapshot(|| "transaction".to_owned())?;
        self.refuse_inside_transaction()?;
        if self.is_bound() {
            return Err(Error::new(
                ErrorKind::InvalidQuery,
                "transaction inside another: use `transaction`, which joins it, and not `begin`",
            ));
        }
        let options = TransactionOptions::default();
        let options = options.durability(self.durability).after(lost);
        // Until the caller owns it, the store's transaction rolls back by its own drop.
        let transaction = match session {
            Some(session) => session.begin(options).await?,
            None => self.store.begin(options).await?,
        };
        let bound = Arc::new(Bound::new(transaction, self.outbox.clone()));
        let session = Session {
            bound: Some(bound.clone()),
            ..self.clone()
        };
        Ok((session, bound))
    }

    /// The session for programs that know no model: its reads find cold parts and pending fields that are declared later.
    pub(crate) fn of_any_program(&self) -> Self {
        Session {
            has_cold_parts: true,
            has_pending: true,
            ..self.clone()
        }
    }

    /// Makes sure that reads follow the catalog that is in force now. A snapshot keeps to the catalog that it began with. A store with marks
    /// is not read as long as the stored catalog has not changed.
    pub(crate) async fn follow_catalog(&self) -> Result<()> {
        if self.snapshot.is_some() {
            return Ok(());
        }
        let source = self.source().await?;
        let reader = source.reader();
        let (mut catalog, mark) = (self.catalog(), reader.mark(catalog::COLLECTION));
        if self.catalog.has_seen(mark.as_ref(), catalog.epoch()) {
            return Ok(());
        }
        if !catalog::is_current(&catalog, reader).await? {
            catalog = self.reload(reader).await?;
        }
        self.catalog.see(mark, catalog.epoch());
        Ok(())
    }

    pub(crate) fn with_durability(&self, durability: Durability) -> Self {
        Session {
            durability,
            ..self.clone()
        }
    }

    pub(crate) fn with_rights(&self, rights: Arc<dyn CollectionRights>) -> Self {
        Session {
            rights: Some(rights),
            ..self.clone()
        }
    }

    /// The rights of the caller, for their writes.
    pub(crate) fn rights(&self) -> Rights {
        self.rights.clone()
    }

    /// The name of the database.
    pub(crate) fn database(&self) -> &'static str {
        self.program.database
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// The transaction that operations are part of.
    pub(crate) fn bound(&self) -> Option<&Arc<Bound>> {
        self.bound.as_ref()
    }

    /// Whether the operations of both are on one store, and part of the same transaction.
    pub(crate) fn is_of_same(&self, other: &Session) -> bool {
        let is_same_bound = match (&self.bound, &other.bound) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        is_same_bound && Arc::ptr_eq(&self.store, &other.store)
    }

    /// Whether operations are part of a transaction.
    pub(crate) fn is_bound(&self) -> bool {
        self.bound.is_some()
    }

    /// The relations of the models.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        let catalog = self.catalog.newest.read();
        catalog.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the catalog that is now in force. It fails if a newer version of the database is in force beside which this one must not go
    /// on.
    fn reload<'f>(&'f self, reader: &'f dyn Reader) -> BoxFuture<'f, Result<Arc<Catalog>>> {
        Box::pin(async move {
            let program = &self.program;
            let catalog = catalog::load(reader).await?;
            catalog.check_program(program.database, program.version)?;
            let catalog = Arc::new(catalog.for_program(&program.models));
            let mut shared = self
                .catalog
                .newest
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            shared.clone_from(&catalog);
            Ok(catalog)
        })
    }

    /// Reads and returns the catalog that is in force.
    pub(crate) async fn current_catalog(&self) -> Result<Arc<Catalog>> {
        let source = self.source().await?;
        self.reload(source.reader()).await
    }

    /// Applies one write as a unit, with all effects and refreshes.
    pub(crate) fn write(&self, write: Write) -> BoxFuture<'_, Result<WriteOutcome>> {
        Box::pin(async move {
            let write = Arc::new(write);
            let (name, collection) = (write.name(), write.collection());
            self.refuse_in_snapshot(|| format!("{name} in `{collection}`"))?;
            let operation = Operation::begin(name, collection).of(write.documents());
            // A write that finds no document, or another version of it, has written nothing yet.
            let is_of_one = match &*write {
                Write::Modify { .. } => true,
                Write::Replace { documents, .. } => documents.len() == 1,
                _ => false,
            };
            let goes_on = |error: &Error| is_of_one && (error.is_stale() || error.is_not_found());
            let outcome = self.work(&write, goes_on).await;
            let outcome = operation.observe(outcome)?;
            self.record_written(operation, &write, &outcome).await;
            Ok(outcome)
        })
    }

    /// Applies several writes as one unit, each with all effects and refreshes before the next.
    pub(crate) fn write_all(
        &self,
        writes: Vec<NamedWrite>,
    ) -> BoxFuture<'_, Result<Vec<WriteOutcome>>> {
        Box::pin(async move {
            self.refuse_in_snapshot(|| "bulk".to_owned())?;
            let writes = Arc::new(writes);
            let documents = writes.iter().map(|named| named.write.documents()).sum();
            let operations = writes.iter().enumerate();
            let operations: Vec<_> = operations
                .map(|(at, NamedWrite { write, .. })| {
                    let operation =
                        Operation::begin(write.name(), write.collection()).of(documents);
                    // The time of each operation is the time of the unit.
                    match at {
                        0 => operation,
                        _ => operation.without_warning(),
                    }
                })
                .collect();
            let outcomes = self.work(&writes, |_| false).await;
            // All of them count as failed.
            let failed = |error: &Error| operations.iter().for_each(|of| of.failed(error));
            let outcomes = outcomes.inspect_err(failed)?;
            let written = outcomes
                .iter()
                .map(|outcome| outcome.cost.documents_written);
            let written = written.fold(0, u64::saturating_add);
            let ended = operations.into_iter().zip(&*writes).zip(&outcomes);
            for ((operation, NamedWrite { write, .. }), outcome) in ended {
                let operation = operation.in_unit_of(written);
                self.record_written(operation, write, outcome).await;
            }
            Ok(outcomes)
        })
    }

    async fn work<W: Job>(
        &self,
        work: &Arc<W>,
        goes_on: impl FnOnce(&Error) -> bool + Send,
    ) -> Result<W::Outcome> {
        match &self.bound {
            None => self.work_in_own_transaction(work).await,
            Some(bound) => self.work_in(bound, work, goes_on).await,
        }
    }

    /// The error of a write that has not matched the document that it names.
    pub(crate) async fn unmatched(&self, named: &NamedDocument) -> Result<Error> {
        named.unmatched(self.source().await?.reader()).await
    }

    /// Works in a transaction of its own.
    async fn work_in_own_transaction<W: Job>(&self, work: &Arc<W>) -> Result<W::Outcome> {
        self.keep_workers();
        self.refuse_inside_transaction()?;
        loop {
            let (store, catalog) = (&*self.store, self.catalog());
            match maintain::run(store, &catalog, work, self.durability, is_tracing_steps()).await? {
                Some(outcome) => {
                    if W::has_queued(&outcome) {
                        self.outbox.wake.notify_one();
                    }
                    return Ok(outcome);
                }
                None => self.replace_catalog(&catalog).await?,
            };
        }
    }

    /// Replaces a catalog that a store has refused by the one in force.
    fn replace_catalog<'f>(&'f self, refused: &'f Catalog) -> BoxFuture<'f, Result<()>> {
        Box::pin(async move {
            let catalog = self.reload(&*self.store.reader()?).await?;
            if catalog.is_same_epoch(refused) {
                catalog::renew_epoch(&*self.store).await?;
                self.reload(&*self.store.reader()?).await?;
            }
            Ok(())
        })
    }

    /// Works in a transaction of its own, in a session of the store, which is not run again after a conflict.
    async fn work_once<W: Job>(
        &self,
        work: &Arc<W>,
        of_store: Option<&dyn StoreSession>,
    ) -> Result<W::Outcome> {
        let (session, bound) = self.begin_in(of_store, None).await?;
        match session.work(work, |_| false).await {
            Ok(outcome) => {
                bound.commit().await?;
                Ok(outcome)
            }
            Err(error) => {
                bound.rollback().await?;
                Err(error)
            }
        }
    }

    /// Works in the transaction of the session, by the catalog that is in force in it. An error aborts the transaction, unless `goes_on`
    /// accepts it, and so does dropping the future: a part of the work may be in the transaction.
    async fn work_in<W: Job>(
        &self,
        bound: &Bound,
        work: &Arc<W>,
        goes_on: impl FnOnce(&Error) -> bool + Send,
    ) -> Result<W::Outcome> {
        let mut locked = bound.lock().await?;
        let mut aborting = AbortOnDrop::new(bound, bound::dropped());
        let transaction = locked.get_mut();
        let mut catalog = self.catalog();
        transaction.set_reads_for_writes(true);
        let worked = async {
            if !catalog::follow(&catalog, transaction).await? {
                catalog = self.reload(&*transaction).await?;
            }
            let worked = work
                .apply(&catalog, transaction, is_tracing_steps())
                .await?;
            match catalog::has_followed(&catalog, transaction).await? {
                true => Ok(worked),
                false => Err(OtherEpoch.into()),
            }
        };
        let mut result = worked.await;
        transaction.set_reads_for_writes(false);
        if let Err(error) = &result
            && catalog::is_outdated(&catalog, &*self.store, error).await
        {
            let replaced = self.replace_catalog(&catalog).await;
            result = Err(replaced.err().unwrap_or_else(|| OtherEpoch.into()));
        }
        aborting.disarm();
        bound.record(&catalog, work, result.as_ref().ok());
        if result.as_ref().is_ok_and(W::has_queued) {
            bound.has_queued();
        }
        result.inspect_err(|error| {
            if !goes_on(error) {
                bound.abort(error);
            }
        })
    }

    /// Records that all documents follow the declarations at these places.
    pub(crate) async fn complete(
        &self,
        declared: &Catalog,
        fields: BTreeSet<String>,
    ) -> Result<()> {
        self.refuse_in_snapshot(|| "backfill".to_owned())?;
        self.refuse_inside_transaction()?;
        catalog::complete(&*self.store, declared, fields).await?;
        self.current_catalog().await.map(drop)
    }

    /// Records that all fields derived from a migration of the database are computed.
    pub(crate) async fn end_migration(&self) -> Result<()> {
        catalog::end_migration(&*self.store, self.program.database).await
    }

    /// Runs a write, rolls it back, and returns the changes that it would make.
    pub(crate) async fn plan(&self, write: &Write) -> Result<WritePlan> {
        self.refuse_in_snapshot(|| "plan".to_owned())?;
        if self.is_bound() {
            return Err(Error::new(
                ErrorKind::InvalidQuery,
                "plan inside a transaction, which cannot roll back a part of itself: call `plan` \
                 outside of it",
            ));
        }
        self.refuse_inside_transaction()?;
        loop {
            let (store, catalog) = (&*self.store, self.catalog());
            match maintain::plan(store, &catalog, write).await? {
                Some(plan) => return Ok(plan),
                None => self.replace_catalog(&catalog).await?,
            };
        }
    }

    /// Closes the store.
    pub(crate) async fn close(&self) -> Result<()> {
        let is_inside = || {
            Error::new(
                ErrorKind::OutsideTransaction,
                "close inside a transaction, for whose end it would wait: close the database after it",
            )
        };
        if self.is_bound() || self.refuse_inside_transaction().is_err() {
            return Err(is_inside());
        }
        self.store.close().await
    }

    /// A write outside would wait for the transaction, which waits for the write.
    fn refuse_inside_transaction(&self) -> Result<()> {
        refuse_inside_transaction(&*self.store)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("is_bound", &self.is_bound())
            .field("is_snapshot", &self.snapshot.is_some())
            .field("durability", &self.durability)
            .field("workers", &self.workers)
            .finish_non_exhaustive()
    }
}
