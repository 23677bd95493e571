//! A session of the driver: the snapshot of a reader, or a transaction.

use std::{
    fmt,
    future::{Future, pending},
    ops::DerefMut,
    panic::resume_unwind,
    sync::{Arc, OnceLock, atomic::Ordering},
    time::{Duration, Instant},
};

use ::mongodb::{
    ClientSession, Collection, Database,
    bson::doc,
    error::{
        Result as DriverResult, TRANSIENT_TRANSACTION_ERROR, UNKNOWN_TRANSACTION_COMMIT_RESULT,
    },
    options::{ReadConcern, ReadPreference, SelectionCriteria},
};
use async_trait::async_trait;
use bson::{Bson, RawDocumentBuf, Timestamp};
use odm_store::{
    Durability, Error, Locks, Result, StoreSession, Transaction, TransactionOptions, UnitOfWork,
};
use tokio::sync::{Mutex, MutexGuard, OnceCell, OwnedMutexGuard};

use super::{
    Connection,
    error::{About, after, has_no_snapshot, is_unreachable, translate, unconfirmed},
    lock::{self, Slots},
};

/// How often a commit is sent if its answer is lost.
const COMMITS: usize = 5;
/// How long and how often a server is asked for a snapshot that it does not have.
const SNAPSHOT: Duration = Duration::from_secs(5);
const BETWEEN_SNAPSHOTS: Duration = Duration::from_millis(10);
/// How long the abort of a transaction may take.
const ABORT: Duration = Duration::from_secs(1);

/// Reads of one state, and the writes of a transaction. A session has one request at a time.
pub(super) struct MongoTransaction {
    pub(super) connection: Arc<Connection>,
    /// Empty before the first read of a snapshot.
    session: OnceCell<Mutex<Driven>>,
    /// The durability of the commit, if it is a transaction.
    transaction: Option<Durability>,
    /// The time of the first request, with which a transaction begins.
    used: OnceLock<Instant>,
    /// The time of the last commit that the snapshot has.
    committed: u64,
    /// The locks that are added for the next write.
    pub(super) locks: Locks,
    pub(super) slots: Slots,
    /// Something was written.
    pub(super) has_written: bool,
}

/// A session of the driver, while a transaction or a snapshot uses it.
type Driven = OwnedMutexGuard<ClientSession>;

/// A session for one transaction only.
async fn own(session: ClientSession) -> Driven {
    Arc::new(Mutex::new(session)).lock_owned().await
}

/// A session of the driver for transactions one after another.
pub(super) struct NamedSession {
    connection: Arc<Connection>,
    session: Arc<Mutex<ClientSession>>,
    id: Bson,
}

impl NamedSession {
    pub(super) async fn new(connection: Arc<Connection>) -> Result<Self> {
        let session = connection.start_session().await?;
        Ok(NamedSession {
            connection,
            id: session.id().clone().into(),
            session: Arc::new(Mutex::new(session)),
        })
    }
}

#[async_trait]
impl StoreSession for NamedSession {
    fn id(&self) -> Bson {
        self.id.clone()
    }

    async fn begin(&self, options: TransactionOptions) -> Result<Box<dyn Transaction>> {
        let connection = self.connection.clone();
        connection.prepare().await?;
        let session = self.session.clone().lock_owned().await;
        let transaction = MongoTransaction::of_transaction(connection, session, options.durability);
        Ok(Box::new(transaction))
    }
}

impl fmt::Debug for MongoTransaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MongoTransaction").finish_non_exhaustive()
    }
}

impl MongoTransaction {
    pub(super) fn of_snapshot(connection: Arc<Connection>) -> Self {
        MongoTransaction {
            committed: connection.committed.load(Ordering::Acquire),
            connection,
            session: OnceCell::new(),
            transaction: None,
            used: OnceLock::new(),
            locks: Locks::default(),
            slots: Slots::default(),
            has_written: false,
        }
    }

    /// A transaction, which begins with its first request. Dropped, it is aborted.
    pub(super) async fn begin(connection: Arc<Connection>, durability: Durability) -> Result<Self> {
        connection.prepare().await?;
        let session = own(connection.start_session().await?).await;
        Ok(MongoTransaction::of_transaction(
            connection, session, durability,
        ))
    }

    fn of_transaction(
        connection: Arc<Connection>,
        session: Driven,
        durability: Durability,
    ) -> Self {
        MongoTransaction {
            connection,
            session: OnceCell::new_with(Some(Mutex::new(session))),
            transaction: Some(durability),
            used: OnceLock::new(),
            committed: 0,
            locks: Locks::default(),
            slots: Slots::default(),
            has_written: false,
        }
    }

    /// The driver's session, for a request, with exclusive access.
    pub(super) async fn lock(&self) -> Result<impl DerefMut<Target = ClientSession>> {
        self.lock_with(Some(ReadConcern::snapshot())).await
    }

    /// The driver's session, for a `bulkWrite`. A transaction that begins with it has no read concern, unless the client has one: not every
    /// server accepts one with that command. All reads of a transaction see one state with any read concern; a snapshot also means that no
    /// failover undoes the state that was read, as does a majority commit.
    pub(super) async fn lock_for_bulk(&self) -> Result<impl DerefMut<Target = ClientSession>> {
        let of_client = self.connection.database.read_concern();
        self.lock_with(of_client.map(|_| ReadConcern::snapshot()))
            .await
    }

    fn is_used(&self) -> bool {
        self.used.get().is_some()
    }

    async fn lock_with(
        &self,
        concern: Option<ReadConcern>,
    ) -> Result<impl DerefMut<Target = ClientSession>> {
        self.connection.check_open()?;
        let start = async || {
            let snapshot = self.start_snapshot(None).await?;
            Ok::<_, Error>(Mutex::new(own(snapshot).await))
        };
        let session = self.session.get_or_try_init(start).await?.lock().await;
        let mut session = MutexGuard::map(session, |session| &mut **session);
        if let (false, Some(durability)) = (self.is_used(), self.transaction) {
            let begun = self.start(&mut session, durability, concern).await;
            begun.map_err(|error| translate(error, None))?;
        }
        self.used.get_or_init(Instant::now);
        Ok(session)
    }

    /// Begins the transaction of the driver, without a request.
    async fn start(
        &self,
        session: &mut ClientSession,
        durability: Durability,
        concern: Option<ReadConcern>,
    ) -> DriverResult<()> {
        // A client that reads from other members still writes to the primary.
        let primary = SelectionCriteria::ReadPreference(ReadPreference::Primary);
        let begin = session.start_transaction();
        let begin = begin.selection_criteria(primary);
        let begin = begin.write_concern(self.connection.write_concern(durability));
        match concern {
            Some(concern) => begin.read_concern(concern).await,
            None => begin.await,
        }
    }

    /// The database of the session's reads. The reads of a snapshot name their read concern: the driver would use the client's instead, if
    /// it has one, and read no snapshot.
    pub(super) fn database(&self) -> &Database {
        match self.transaction {
            Some(_) => &self.connection.database,
            None => &self.connection.snapshots,
        }
    }

    pub(super) fn collection(&self, name: &str) -> Collection<RawDocumentBuf> {
        self.database().collection(name)
    }

    /// The answer to a request.
    pub(super) fn answer<T>(&self, sent: DriverResult<T>, about: About<'_>) -> Result<T> {
        sent.map_err(|error| self.told(translate(error, Some(about))))
    }

    /// An error, which says so if the transaction was lost because it takes too long.
    fn told(&self, error: Error) -> Error {
        match (self.transaction, self.used.get()) {
            (Some(_), Some(begun)) => after(begun.elapsed(), error),
            _ => error,
        }
    }

    /// The answer to the first message of a query, or `None` if the message must be sent again to read a state that the session may see.
    pub(super) async fn settled<T>(
        &self,
        session: &mut ClientSession,
        sent: DriverResult<T>,
        about: About<'_>,
        begin: Instant,
    ) -> Result<Option<T>> {
        let error = match sent {
            Ok(_) if self.was_behind(session).await? => return Ok(None),
            Ok(answer) => return Ok(Some(answer)),
            Err(error) => error,
        };
        // Another state is as good, as long as this one has not been read.
        let is_new = self.transaction.is_none() && session.snapshot_time().is_none();
        if !(is_new && has_no_snapshot(&error)) || begin.elapsed() > SNAPSHOT {
            return self.answer(Err(error), about);
        }
        tokio::time::sleep(BETWEEN_SNAPSHOTS).await;
        *session = self.start_snapshot(None).await?;
        Ok(None)
    }

    async fn start_snapshot(&self, at: Option<Timestamp>) -> Result<ClientSession> {
        let start = self.connection.client.start_session().snapshot(true);
        let started = match at {
            Some(at) => start.snapshot_time(at).await,
            None => start.await,
        };
        started.map_err(|error| translate(error, None))
    }

    /// Whether a member without the last commit of the program has answered the first query of a snapshot. Its answer is of no use then,
    /// and the next one waits for that commit.
    async fn was_behind(&self, session: &mut ClientSession) -> Result<bool> {
        let read = session.snapshot_time().map(as_number);
        if read.is_none_or(|read| read >= self.committed) {
            return Ok(false);
        }
        *session = self.start_snapshot(Some(as_time(self.committed))).await?;
        Ok(true)
    }

    /// Runs a unit and commits. First changes the slots that the unit needed when it ran before, so that it cannot lose them to others for
    /// ever.
    pub(super) async fn run(&mut self, unit: &dyn UnitOfWork, slots: Slots) -> Result<()> {
        self.slots = slots;
        let run = async {
            self.write_slots().await?;
            unit.run(self).await
        };
        match run.await {
            Ok(()) => self.commit_all().await,
            Err(error) => {
                self.abort().await;
                Err(error)
            }
        }
    }

    /// The slots to begin with when the unit is run again.
    pub(super) fn into_slots_again(mut self) -> Slots {
        Slots::again(std::mem::take(&mut self.slots).into_wanted_again())
    }

    pub(super) async fn commit_all(&mut self) -> Result<()> {
        if self.has_written {
            self.add_locks()?;
            self.write_slots().await?;
        }
        self.connection.check_open()?;
        match self.take_used() {
            Some(session) => {
                let committed = to_its_end(commit(self.connection.clone(), session)).await;
                committed.map_err(|error| self.told(error))
            }
            None => Ok(()),
        }
    }

    /// Aborts the transaction. An unreachable server is told in the background as soon as it is back: by itself it would keep others from
    /// the documents for a minute.
    pub(super) async fn abort(&mut self) {
        if let Some(mut session) = self.take_used() {
            let aborted = to_its_end(async move { session.abort_transaction().await.ok() });
            drop(tokio::time::timeout(ABORT, aborted).await);
        }
    }

    /// The driver's session, if its transaction has begun.
    fn take_used(&mut self) -> Option<Driven> {
        let session = self.session.take().map(Mutex::into_inner);
        session.filter(|_| self.is_used())
    }
}

impl Drop for MongoTransaction {
    /// Aborts a transaction that has not ended, so that others do not meet its writes until the server gives it up. The
    /// driver does that only once its first request was answered.
    fn drop(&mut self) {
        if self.transaction.is_none() {
            return;
        }
        if let Some(mut session) = self.take_used() {
            let database = self.connection.database.clone();
            self.connection.runtime.spawn(async move {
                let find = doc! { "find": lock::COLLECTION, "limit": 1, "singleBatch": true };
                // Any answer will do, even that the transaction has begun already.
                drop(database.run_command(find).session(&mut *session).await);
                session.abort_transaction().await.ok();
            });
        }
    }
}

async fn commit(connection: Arc<Connection>, mut session: Driven) -> Result<()> {
    let mut sent = 1;
    loop {
        let Err(error) = session.commit_transaction().await else {
            connection.committed(&session);
            return Ok(());
        };
        // Only this label says that the transaction is not stored.
        if error.contains_label(TRANSIENT_TRANSACTION_ERROR) {
            return Err(translate(error, None));
        }
        let is_unknown = error.contains_label(UNKNOWN_TRANSACTION_COMMIT_RESULT);
        if sent == COMMITS || !is_unknown || is_unreachable(&error) {
            return Err(unconfirmed(error));
        }
        // The commit is idempotent.
        sent += 1;
    }
}

/// Runs the end of a transaction in a task of its own. So it completes even if its caller is dropped meanwhile: once the driver has begun
/// to send the end of a transaction, it sends nothing more in it.
pub(super) async fn to_its_end<T: Send + 'static>(
    end: impl Future<Output = T> + Send + 'static,
) -> T {
    match tokio::spawn(end).await {
        Ok(output) => output,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The runtime is shut down, and drops the caller as well.
            Err(_) => pending().await,
        },
    }
}

/// A time of the server as a number with the same order.
pub(super) fn as_number(time: Timestamp) -> u64 {
    u64::from(time.time) << 32 | u64::from(time.increment)
}

fn as_time(number: u64) -> Timestamp {
    Timestamp {
        time: (number >> 32) as u32,
        increment: number as u32,
    }
}
