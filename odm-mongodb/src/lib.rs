//! The store on a MongoDB server, by the official driver.
//!
//! A unit of work is a transaction with snapshot reads and a majority write concern. A reader reads one snapshot, without a
//! transaction. So the server is a replica set, if only of one member.
//!
//! ```no_run
//! # use odm::derive::examples::*; example(async |_| {
//! use odm::MongoDb;
//!
//! let server = MongoDb::connect("mongodb://localhost:27017/shop").await?;
//! let shop = Shop::open(server).await?;
//! # Ok(()) });
//! ```
//!
//! The server's snapshot isolation separates transactions that write the same document, and no others. If derived data needs more,
//! transactions also change documents of the collection `_odm_locks`.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(missing_docs)]
#![warn(missing_debug_implementations)]
// For times, and for numbers that come from users or are stored: see `clippy.toml`.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

mod error;
mod explain;
mod filter;
mod group;
mod lock;
mod null;
mod read;
mod reply;
mod schema;
mod session;
mod single_write;
mod statement;
mod stats;
mod watch;
mod write;

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{
        Arc, LazyLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use ::mongodb::{
    Client, ClientSession, Database,
    bson::{Bson, Document, doc},
    options::{Acknowledgment, ClientOptions, DatabaseOptions, ReadConcern, WriteConcern},
};
use async_trait::async_trait;
use odm_mql::Filter;
use odm_store::{
    Capabilities, CollectionSpec, CollectionStats, CollectionValidator, Durability, Error,
    ErrorKind, IndexUses, RETRIED_FOR, Reader, Result, SingleWriteRequest, Store, StoreId,
    StoreSession, StoreWatch, Transaction, TransactionOptions, UnitOfWork, Updated, WatchRequest,
};
use tokio::{
    runtime::Handle,
    sync::{Mutex, OnceCell},
};

use self::{
    error::{lacks_bulk_write, translate},
    lock::Slots,
    session::{MongoTransaction, NamedSession},
};

/// The wait of a unit of work before its third run. Before each later run it waits longer by the same time.
const FIRST_WAIT: Duration = Duration::from_millis(2);
/// The number of conflicts after which a unit passes its turn to the next one, and waits for another turn.
const IN_TURN: u32 = 10;
/// The longest wait, in multiples of the first.
const LONGEST_WAIT: u32 = 50;

/// A database of a MongoDB server. A clone is the same store.
///
/// ```no_run
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::MongoDb;
///
/// let server = MongoDb::connect("mongodb://localhost:27017/shop").await?;
/// let shop = Shop::open(server).await?;
/// assert_eq!(shop.audit().await?, []);
/// # Ok(()) });
/// ```
#[derive(Debug, Clone)]
pub struct MongoDb(Arc<Connection>);

/// The shared state of all readers and transactions of a store.
#[derive(Debug)]
struct Connection {
    id: StoreId,
    client: Client,
    database: Database,
    /// The same, with the read concern of snapshots.
    snapshots: Database,
    /// Where dropped transactions are aborted.
    runtime: Handle,
    /// The server has `bulkWrite`, which writes to several collections.
    has_bulk_write: AtomicBool,
    /// Null on a dotted path matches if the path ends at an array, as from MongoDB 9.0 on: see [`null`].
    has_null_in_arrays: bool,
    /// Whether the store is closed, also for tasks that wait for it.
    closed: tokio::sync::watch::Sender<bool>,
    /// The server's time of the last commit of this program, as [`as_number`](session::as_number) makes it.
    committed: AtomicU64,
    /// The server's validators are bypassed, since all of them are the library's own.
    bypasses_validators: AtomicBool,
    /// The next slot of a shared lock.
    turn: lock::Turn,
    /// Whether the documents of the locks exist.
    has_locks: OnceCell<()>,
    /// The turn of the units that have lost a conflict: they run one after another, so that each of them completes.
    lost: Mutex<()>,
}

impl MongoDb {
    /// Connects to the database that a URI names, such as `mongodb://localhost:27017/shop`.
    ///
    /// ```no_run
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::MongoDb;
    ///
    /// let server = MongoDb::connect("mongodb://localhost:27017/shop?replicaSet=rs0").await?;
    /// let copy = Shop::open(server).await?;
    /// shop.copy_to(&copy).await?; // one machine is not enough any more
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `InvalidQuery` if the URI is invalid or names no database; the errors of [`new`](MongoDb::new).
    pub async fn connect(uri: &str) -> Result<Self> {
        let invalid = |error: ::mongodb::error::Error| {
            let message = format!("invalid URI of a MongoDB server: {error}");
            Error::new(ErrorKind::InvalidQuery, message).with_source(error)
        };
        let options = ClientOptions::parse(uri).await.map_err(invalid)?;
        let Some(name) = options.default_database.clone() else {
            return Err(Error::new(
                ErrorKind::InvalidQuery,
                "the URI of a MongoDB server names no database: write `mongodb://host:port/database`",
            ));
        };
        let client = Client::with_options(options).map_err(invalid)?;
        MongoDb::new(&client, &name).await
    }

    /// Uses a database of a client, with the client's options for connections, authentication and monitoring.
    ///
    /// ```no_run
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use mongodb::{Client, options::ClientOptions};
    /// use odm::MongoDb;
    ///
    /// let mut options = ClientOptions::parse("mongodb://localhost:27017").await.unwrap();
    /// options.max_pool_size = Some(50);
    /// let client = Client::with_options(options).unwrap();
    /// let shop = Shop::open(MongoDb::new(&client, "shop").await?).await?;
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `Unavailable` if the server cannot be reached, and `Schema` if it is neither a replica set's member nor new enough:
    /// MongoDB 6.0 or later.
    pub async fn new(client: &Client, database: &str) -> Result<Self> {
        let snapshot = ReadConcern::snapshot();
        let snapshot = DatabaseOptions::builder().read_concern(snapshot).build();
        let snapshots = client.database_with_options(database, snapshot);
        let database = client.database(database);
        let hello = database.run_command(doc! { "hello": 1 }).await;
        let hello = hello.map_err(|error| translate(error, None))?;
        let version = hello.get_i32("maxWireVersion").unwrap_or(0);
        // Partial indexes by `$or` came with 6.0.
        if version < 17 {
            return Err(Error::new(
                ErrorKind::Schema,
                "the MongoDB server is older than 6.0, and its partial indexes have no `$or`: upgrade it",
            ));
        }
        if !hello.contains_key("setName") {
            let message = if hello
                .get_str("msg")
                .is_ok_and(|message| message == "isdbgrid")
            {
                "the MongoDB server is a sharded cluster, which is not supported: use a replica set"
            } else {
                "the MongoDB server is a standalone one, without transactions: start it with `--replSet rs0`, and run \
                 `rs.initiate()` once"
            };
            return Err(Error::new(ErrorKind::Schema, message));
        }
        let has_bulk_write = version >= 25 && has_bulk_write(client, database.name()).await;
        let has_null_in_arrays = version >= 25 && has_null_in_arrays(&database).await;
        Ok(MongoDb(Arc::new(Connection {
            id: identity(&hello, database.name()),
            client: client.clone(),
            database,
            snapshots,
            runtime: Handle::current(),
            has_bulk_write: AtomicBool::new(has_bulk_write),
            has_null_in_arrays,
            closed: tokio::sync::watch::Sender::new(false),
            committed: AtomicU64::new(0),
            bypasses_validators: AtomicBool::new(false),
            turn: lock::Turn::new(),
            has_locks: OnceCell::new(),
            lost: Mutex::new(()),
        })))
    }

    fn snapshot(&self) -> Result<MongoTransaction> {
        self.0.check_open()?;
        Ok(MongoTransaction::of_snapshot(self.0.clone()))
    }
}

/// The error of a query with a collation.
fn no_collation() -> Error {
    let message = "a collation is not supported on MongoDB by this library: leave it out, or ask the server by the driver";
    Error::new(ErrorKind::InvalidQuery, message)
}

impl Connection {
    /// The write concern: the client's, or that most members have the write.
    fn write_concern(&self, durability: Durability) -> WriteConcern {
        let own = self.database.write_concern();
        let mut concern = own.cloned().unwrap_or(WriteConcern::majority());
        match durability {
            Durability::Immediate => {
                concern.w.get_or_insert(Acknowledgment::Majority);
            }
            Durability::Eventual => concern.w = Some(Acknowledgment::Nodes(1)),
        }
        concern
    }

    /// Records that a session has committed, for later reads.
    fn committed(&self, session: &ClientSession) {
        let time = session.operation_time().map_or(0, session::as_number);
        self.committed.fetch_max(time, Ordering::AcqRel);
    }

    fn has_bulk_write(&self) -> bool {
        self.has_bulk_write.load(Ordering::Acquire)
    }

    /// Records that the server refuses `bulkWrite`: its feature compatibility version is older than its program's, or an older member has
    /// become the primary. Until the next connection of the store, each collection is written to by commands of its own.
    fn lacks_bulk_write(&self) {
        if self.has_bulk_write.swap(false, Ordering::AcqRel) {
            tracing::warn!(
                target: "odm",
                "the MongoDB server refuses `bulkWrite`, as with the feature compatibility version 7.0: writes take more \
                 messages until the store is connected anew"
            );
        }
    }

    /// The form of a filter that means the same on this server.
    fn form(&self, filter: &Filter) -> Result<Document> {
        if filter.has_collation() {
            return Err(no_collation());
        }
        Ok(self.portable(filter).to_document())
    }

    /// The filter that means the same on this server.
    fn portable<'f>(&self, filter: &'f Filter) -> Cow<'f, Filter> {
        if self.has_null_in_arrays {
            Cow::Owned(null::portable(filter))
        } else {
            Cow::Borrowed(filter)
        }
    }

    async fn start_session(&self) -> Result<ClientSession> {
        let started = self.client.start_session().await;
        started.map_err(|error| translate(error, None))
    }

    /// Makes sure that a transaction can begin.
    async fn prepare(&self) -> Result<()> {
        self.check_open()?;
        self.ensure_locks().await
    }

    async fn ensure_locks(&self) -> Result<()> {
        let locks = || lock::ensure(&self.database);
        self.has_locks.get_or_try_init(locks).await.map(drop)
    }

    fn check_open(&self) -> Result<()> {
        match *self.closed.borrow() {
            true => Err(Error::new(
                ErrorKind::Closed,
                "store closed: connect to it again",
            )),
            false => Ok(()),
        }
    }
}

/// Whether a server of 8.0 or later accepts a `bulkWrite`: it checks its feature compatibility version before it refuses the lack of
/// operations.
async fn has_bulk_write(client: &Client, database: &str) -> bool {
    let namespace = format!("{database}.{}", lock::COLLECTION);
    let empty = doc! { "bulkWrite": 1, "ops": [], "nsInfo": [{ "ns": namespace }] };
    let refused = client.database("admin").run_command(empty).await;
    !refused.is_err_and(|error| lacks_bulk_write(&error))
}

/// Whether null on a dotted path matches an empty array. A server that does not say counts as one before 9.0.
async fn has_null_in_arrays(database: &Database) -> bool {
    let pipeline = vec![
        doc! { "$documents": [{ "a": [] }] },
        doc! { "$match": { "a.b": null } },
    ];
    let command = doc! { "aggregate": 1, "pipeline": pipeline, "cursor": {} };
    let Ok(answer) = database.run_command(command).await else {
        return false;
    };
    let cursor = answer.get_document("cursor");
    let found = cursor.and_then(|cursor| cursor.get_array("firstBatch"));
    found.is_ok_and(|found| !found.is_empty())
}

/// The identity of a database of a replica set: the same for all connections of this process.
fn identity(hello: &Document, database: &str) -> StoreId {
    static IDS: LazyLock<std::sync::Mutex<HashMap<String, StoreId>>> =
        LazyLock::new(std::sync::Mutex::default);
    let server = ["setName", "hosts"].map(|name| hello.get(name));
    let mut ids = IDS.lock().unwrap_or_else(PoisonError::into_inner);
    let id = ids.entry(format!("{server:?} {database}"));
    *id.or_insert_with(StoreId::new)
}

#[async_trait]
impl Store for MongoDb {
    fn capabilities(&self) -> Capabilities {
        // Also for a server without `bulkWrite`, which may have been upgraded since others have connected to it.
        Capabilities::default()
            .outer_writes()
            .several_programs()
            .single_document_writes(single_write::UNDER_WAY)
            .id(self.0.id)
    }

    fn reader(&self) -> Result<Arc<dyn Reader>> {
        Ok(Arc::new(self.snapshot()?))
    }

    async fn ensure(&self, collections: &[CollectionSpec]) -> Result<()> {
        self.0.check_open()?;
        schema::ensure(&self.0, collections).await
    }

    async fn collections(&self) -> Result<Vec<CollectionSpec>> {
        self.0.check_open()?;
        schema::specs(&self.0.database).await
    }

    /// Asks the server by the stage `$collStats`, which takes the right of that name. The sizes of indexes are those on the disk.
    async fn collection_stats(&self, collection: &str) -> Result<Option<CollectionStats>> {
        self.0.check_open()?;
        stats::of(&self.0.database, collection).await
    }

    /// Asks the server by the stage `$indexStats`, which takes the right of that name. The server counts the uses by all programs since its
    /// start.
    async fn index_uses(&self, collection: &str) -> Result<Option<Vec<IndexUses>>> {
        self.0.check_open()?;
        stats::uses(&self.0.database, collection).await
    }

    async fn validate(&self, validations: &[CollectionValidator]) -> Result<()> {
        self.0.check_open()?;
        let bypasses = schema::validate(&self.0.database, validations).await?;
        self.0
            .bypasses_validators
            .store(bypasses, Ordering::Release);
        Ok(())
    }

    async fn run(&self, unit: Arc<dyn UnitOfWork>, durability: Durability) -> Result<()> {
        let begin = Instant::now();
        let mut turn = None;
        let mut conflicts = 0;
        let mut slots = Slots::default();
        loop {
            let mut transaction = MongoTransaction::begin(self.0.clone(), durability).await?;
            let result = transaction.run(&*unit, std::mem::take(&mut slots)).await;
            match result {
                Err(error)
                    if error.is_conflict()
                        && !error.is_of_other_epoch()
                        && begin.elapsed() < RETRIED_FOR =>
                {
                    slots = transaction.into_slots_again();
                    // During its turn, a unit meets only units of other processes and units that run for the first time. A unit that is
                    // held up longer, as by the transaction of a killed process, gives up its turn, and holds up no others.
                    if conflicts > IN_TURN {
                        turn = None;
                    }
                    tokio::time::sleep(FIRST_WAIT * conflicts).await;
                    if turn.is_none() {
                        turn = Some(self.0.lost.lock().await);
                    }
                    conflicts = LONGEST_WAIT.min(conflicts + 1);
                }
                result => return result,
            }
        }
    }

    async fn write_single(
        &self,
        write: &SingleWriteRequest,
        durability: Durability,
    ) -> Result<Option<Updated>> {
        self.0.prepare().await?;
        self.0.clone().write_single(write, durability).await
    }

    async fn begin(&self, options: TransactionOptions) -> Result<Box<dyn Transaction>> {
        let begun = MongoTransaction::begin(self.0.clone(), options.durability).await?;
        Ok(Box::new(begun))
    }

    async fn session(&self) -> Result<Option<Box<dyn StoreSession>>> {
        self.0.check_open()?;
        let session = NamedSession::new(self.0.clone()).await?;
        Ok(Some(Box::new(session)))
    }

    async fn kill_session(&self, id: &Bson) -> Result<()> {
        self.0.check_open()?;
        let admin = self.0.client.database("admin");
        let kill = doc! { "killSessions": [id] };
        let killed = admin.run_command(kill).await;
        killed.map(drop).map_err(|error| translate(error, None))
    }

    async fn watch(&self, request: &WatchRequest) -> Result<StoreWatch> {
        self.0.check_open()?;
        watch::begin(&self.0, request).await
    }

    async fn close(&self) -> Result<()> {
        self.0.closed.send_replace(true);
        Ok(())
    }
}
