//! The contract between the library and a document store.
//!
//! A store has documents, keys and indexes. It knows no models and no relations: the catalog has the relations, and `maintain` computes the
//! writes that follow from them. `maintain` asks a store for its [`Capabilities`], never for its name.
//!
//! A program names `odm::store`: [`Durability`], [`Cost`], [`Explain`] and [`Cause`]. All other types are for the author of a store.
//!
//! ```
//! # use odm::derive::examples::*; example(async |_| {
//! use odm::store::contract::Store;
//!
//! let store = Embedded::memory().await?;
//! assert!(store.capabilities().serializable);
//! let shop = Shop::open(store).await?;
//! # Ok(()) });
//! ```
//!
//! The words MUST and MAY have the meaning of RFC 2119, for the author of a store. The meaning of the types of [`mql`] is part of the
//! contract: a filter MUST match, a sort MUST order and an update MUST change as their functions do, whether a store calls these functions
//! or translates the values for a server. A filter that [fails](mql::Filter::matches) on a document MUST be the
//! [error](crate::Error::failed_filter) of the call. Everything else that a store needs is public: the order of `_id`s and of keys as bytes
//! ([`mql::key::of`]), the keys of a document in an index ([`IndexSpec::keys_of`]), the effect of an update ([`UpdateWrite::changed`] and
//! [`UpdateWrite::inserted`]), and the rules of stored documents ([`check_document`]). The crate `odm-store-suite` has a conformance suite
//! that runs on any store, and a small store to begin from.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(missing_docs)]
#![warn(missing_debug_implementations)]
// For times, and for numbers that come from users or are stored: see `clippy.toml`.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

mod capabilities;
mod collection;
mod commit_time;
mod decode;
mod document;
mod encode;
mod error;
mod feed;
mod index_filter;
mod lock;
mod mark;
#[doc(hidden)]
pub mod metrics;
#[doc(hidden)]
pub mod mutants;
mod query;
mod reader_ext;
mod stats;
mod transaction;
mod unread;
mod watch;
mod write;

use std::{
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bson::{Bson, RawBson, RawDocument};

pub use capabilities::Capabilities;
pub use collection::{CollectionChange, CollectionSpec, CollectionValidator, IndexSpec};
pub use commit_time::CommitTime;
pub use document::{check_document, check_replacement};
pub use error::{Error, ErrorKind, Location, Result};
pub use feed::{CommitWatch, CommittedChange, Feed, FeedChanges, StoreCommit};
pub use index_filter::IndexFilter;
pub use lock::{Lock, Locks, OtherEpoch};
pub use mark::CollectionMark;
pub use odm_mql::{self as mql, Direction, bson};
pub use query::{Aggregate, Cost, Explain, Find, FindByKey};
pub use stats::{CollectionStats, IndexStats, IndexUses};
pub use transaction::{StoreSession, Transaction, TransactionOptions};
pub use unread::UnreadUpdate;
pub use watch::{Cause, DocumentChange, ResumeToken, StoreWatch, WatchRequest, WatchedChange};
pub use write::{
    Change, CollectionWrites, DeleteWrite, Deleted, DocumentCheck, DocumentWrite, SingleWrite,
    SingleWriteRequest, UpdateWrite, Updated,
};

// For the other crates of the library.
#[doc(hidden)]
pub use self::{decode::decode, encode::encode};
#[doc(hidden)]
pub use collection::{is_present, show_briefly};
#[doc(hidden)]
pub use document::{MAX_DEPTH, MAX_LEN, check_stored, check_values, id_first, stamped};
#[doc(hidden)]
pub use error::show;
#[doc(hidden)]
pub use feed::FeedReader;
#[doc(hidden)]
pub use index_filter::FilterForm;
#[doc(hidden)]
pub use query::{ReadAs, STORED};
#[doc(hidden)]
pub use reader_ext::ReaderExt;
#[doc(hidden)]
pub use unread::apply_after_reads;

/// How long a unit that loses conflicts is run again: longer than a server keeps the transaction of a killed process.
#[doc(hidden)]
pub const RETRIED_FOR: Duration = Duration::from_secs(120);

/// A place where documents are stored.
///
/// Every write goes through [`run`](Store::run) or [`begin`](Store::begin), and is atomic: it is stored as a whole or not at all.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a store",
    label = "expected a store",
    note = "open one first: `Embedded::open(\"shop.odm\").await?`, or `Embedded::memory().await?`"
)]
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Returns the optional abilities of this store.
    fn capabilities(&self) -> Capabilities;

    /// Returns a consistent view of the committed state.
    ///
    /// All reads through one reader MUST see the same state, which contains every commit that
    /// returned before this call. A store MAY fix the state at the first read, so that this call
    /// never waits.
    ///
    /// A reader that lives long keeps old data alive; take a new one for each operation.
    fn reader(&self) -> Result<Arc<dyn Reader>>;

    /// Returns a [`reader`](Self::reader) that may live long. A store MAY wait, and take a later state, so that it keeps less alive.
    async fn snapshot(&self) -> Result<Arc<dyn Reader>> {
        self.reader()
    }

    /// Creates the collections and indexes that are missing, and removes the
    /// [obsolete](CollectionSpec::obsolete) indexes that exist with equal keys and options.
    ///
    /// A store MUST leave all other indexes as they are. An obsolete index of the same name as a new one MUST be in force until the new one
    /// is complete and takes its place, so that every write meets one of them. After an error, and after a crash, either all obsolete
    /// indexes are removed and all missing ones exist, or all obsolete ones MUST exist as before; a store MAY leave some of the missing
    /// ones created.
    ///
    /// # Errors
    ///
    /// [`Schema`](crate::ErrorKind::Schema) if an index that is not obsolete exists under the same
    /// name with other keys or options, or if a name is empty or has a NUL;
    /// [`DuplicateKey`](crate::ErrorKind::DuplicateKey) if documents have the same key of a unique
    /// index that is missing.
    async fn ensure(&self, collections: &[CollectionSpec]) -> Result<()>;

    /// Returns the collections, in the order of their names, each with its complete indexes besides the one on `_id`, in the order of
    /// theirs. The default is an [`InvalidQuery`](crate::ErrorKind::InvalidQuery): the store does not list its collections.
    async fn collections(&self) -> Result<Vec<CollectionSpec>> {
        let message = "the store does not list its collections: list them on its server";
        Err(Error::new(ErrorKind::InvalidQuery, message))
    }

    /// Returns the sizes of a collection, or `None` if there is no such collection. The default is an
    /// [`InvalidQuery`](crate::ErrorKind::InvalidQuery): the store does not measure its collections.
    ///
    /// It is asked by people, and MAY read all pages of the collection and its indexes.
    async fn collection_stats(&self, collection: &str) -> Result<Option<CollectionStats>> {
        let message = format!("the store does not measure its collections, such as `{collection}`");
        Err(Error::new(ErrorKind::InvalidQuery, message))
    }

    /// Returns how often the indexes of a collection were used, or `None` if there is no such collection. They are in the order of their
    /// names, with that on `_id`, whose name is `_id_`, as the first one. The default is an
    /// [`InvalidQuery`](crate::ErrorKind::InvalidQuery): the store does not count.
    ///
    /// The counts MUST NOT make queries slower in any measurable way, and MAY begin anew whenever the store is opened.
    async fn index_uses(&self, collection: &str) -> Result<Option<Vec<IndexUses>>> {
        let message = format!("the store does not count the uses of the indexes of `{collection}`");
        Err(Error::new(ErrorKind::InvalidQuery, message))
    }

    /// Lets the store refuse nonconforming documents of other programs, in all collections that are named, and in no others.
    ///
    /// The library checks its own writes, and calls this for programs that write without it: a store MAY do nothing, which is the default,
    /// and MUST NOT refuse a change of a document that did not conform before it.
    async fn validate(&self, validations: &[CollectionValidator]) -> Result<()> {
        let _ = validations;
        Ok(())
    }

    /// Runs a unit of work in a transaction of its own, and commits it.
    ///
    /// A store MUST return only when the commit is as durable as requested, and MUST roll back and return the error if the unit returns
    /// one. It MAY run the unit more than once, each time on a fresh state: if it loses a conflict, or if it writes more than the store can
    /// commit together with other units. So a conflict that the commit finds is the store's own affair: the unit is run again from its
    /// beginning, and nobody sees the results of the lost run. A store that gives up after a conflict MUST return a
    /// [retryable](crate::Error::is_retryable) error. It MUST NOT run a unit again that fails with [`OtherEpoch`]. Dropping the future MUST
    /// either prevent the unit or let all of it happen.
    async fn run(&self, unit: Arc<dyn UnitOfWork>, durability: Durability) -> Result<()>;

    /// Runs a write of one document without a transaction, in fewer requests than [`run`](Store::run) would take for it.
    ///
    /// Returns `None` if the store wrote nothing and the caller has to run a unit of work instead: there is no document to change, the
    /// store has no such way for the write, or the server refuses it. The default returns `None`.
    ///
    /// A store with such a way has [`Capabilities::single_document_writes`]. It MUST NOT write in an epoch other than that of the write,
    /// except for the time that the capability states. If more time may have passed, and another epoch has begun, it MUST return an error
    /// that says so.
    ///
    /// # Errors
    ///
    /// [`OtherEpoch`], after which nothing is written; [`Unavailable`](crate::ErrorKind::Unavailable) if the write may be
    /// stored or not.
    async fn write_single(
        &self,
        write: &SingleWriteRequest,
        durability: Durability,
    ) -> Result<Option<Updated>> {
        let _ = (write, durability);
        Ok(None)
    }

    /// Opens a transaction that the caller drives. Dropping it MUST roll it back.
    ///
    /// The store does not run it again: after a conflict, the caller of any method, the [`commit`](Transaction::commit) included, gets a
    /// [retryable](crate::Error::is_retryable) error. A closure that was given to the library is then run again as a whole, in a new
    /// transaction, and a program that drives the transaction itself gets the error.
    async fn begin(&self, options: TransactionOptions) -> Result<Box<dyn Transaction>>;

    /// Opens a session, so that another program can end its transaction after this program was killed. The default is `None`: a store that
    /// ends the transactions of a program together with it needs no sessions.
    async fn session(&self) -> Result<Option<Box<dyn StoreSession>>> {
        Ok(None)
    }

    /// Ends the open transaction of a session of any program. The transaction MUST fail in that program. A session that is unknown, or has
    /// no transaction, is no error.
    ///
    /// # Errors
    ///
    /// [`Refused`](crate::ErrorKind::Refused) if the store does not let this program do so.
    async fn kill_session(&self, id: &Bson) -> Result<()> {
        let _ = id;
        Ok(())
    }

    /// Watches a collection: shows the changes of its documents as they are committed, from this call on, or from a place in them.
    ///
    /// A watch that does not begin at a place MUST NOT show commits from before the call, and MUST show all commits after its return. The
    /// watch MUST end when the store is closed, and MUST NOT keep it open. It MUST show a change by the library's own writes once, and in
    /// the order of commits.
    ///
    /// The default refuses: collections of the store cannot be watched. A store that publishes all commits of this process, of
    /// [`run`](Store::run) and of [`begin`](Store::begin), in their order, MAY have a [`Feed`], which shows them.
    ///
    /// # Errors
    ///
    /// [`InvalidQuery`](crate::ErrorKind::InvalidQuery) if the collection cannot be watched, or the store has not made the token;
    /// [`Lagged`](crate::ErrorKind::Lagged) if the changes after the token are not kept any more.
    async fn watch(&self, request: &WatchRequest) -> Result<StoreWatch> {
        Err(Error::new(
            ErrorKind::InvalidQuery,
            format!(
                "watch of `{}` refused: the store does not tell of its commits; watch a collection of an embedded store or of a \
                 MongoDB server",
                request.collection
            ),
        ))
    }

    /// Watches all collections, including later ones: shows whole commits, from this call on, or from the first one after a
    /// time. The rules of [`watch`](Store::watch) hold, and its default. A store that has a [`Feed`] MUST answer by its
    /// [`watch_commits`](Feed::watch_commits).
    ///
    /// # Errors
    ///
    /// [`InvalidQuery`](crate::ErrorKind::InvalidQuery) if the collections cannot be watched together;
    /// [`Lagged`](crate::ErrorKind::Lagged) if the commits after the time are not kept any more.
    async fn watch_commits(&self, after: Option<CommitTime>) -> Result<CommitWatch> {
        let _ = after;
        let message = "watch of all collections refused: the store does not tell of its commits; watch those of an embedded store";
        Err(Error::new(ErrorKind::InvalidQuery, message))
    }

    /// Forgets the commits that no watch of all collections can read any more: who has begun such watches calls it from time to time, since
    /// there may be no later commit. A store that has a [`Feed`] MUST call its [`forget_commits`](Feed::forget_commits).
    fn forget_commits(&self) {}

    /// Makes all commits durable, also of calls that were made before, and refuses later calls with [`Closed`](crate::ErrorKind::Closed).
    /// Closing a closed store does nothing, and a call while the store is being closed waits for that.
    async fn close(&self) -> Result<()>;
}

/// Reads of one consistent state.
///
/// Documents are passed to a callback as they lie in the store, so that a caller can decode them without a copy. A callback that returns
/// [`ControlFlow::Break`] ends the read; a callback that returns an error ends it with that error.
#[async_trait]
pub trait Reader: Send + Sync {
    /// Looks up documents by `_id`, and passes each existing document with its position in `ids`.
    ///
    /// The order of the calls is the store's own. A store MUST pass a document twice if its `_id`
    /// occurs twice, and MUST compare `_id`s as [`mql::order`] does, so that 1
    /// and 1.0 are the same.
    async fn get(&self, collection: &str, ids: &[RawBson], each: Each<'_>) -> Result<Cost>;

    /// Runs a query, and passes each document with its position in the result, in order.
    async fn find(&self, find: &Find, each: Each<'_>) -> Result<Cost>;

    /// Runs one query for each of several keys of a field, as one request: at most `limit`
    /// documents for each key, in the order of the query's sort. Passes the position of the key.
    ///
    /// A store MAY pass the documents of different keys in any order, and MUST pass a document once
    /// for each position of a key that it has.
    async fn find_by_key(&self, find: &FindByKey, each: Each<'_>) -> Result<Cost>;

    /// Returns the number of documents that a query would return.
    async fn count(&self, find: &Find) -> Result<(u64, Cost)>;

    /// Returns for each of several keys of a field the number of documents that a query with it
    /// would return, as one request.
    async fn count_by_key(&self, find: &FindByKey) -> Result<(Vec<u64>, Cost)>;

    /// Groups the documents that a query finds, and passes the row of each group with its position in the
    /// result, in order.
    ///
    /// The default groups the documents that [`find`](Reader::find) passes, in the memory that the groups take. A store MAY compute the
    /// rows in any other way, as from an index alone, and MAY bound their memory by a [`Limit`](crate::ErrorKind::Limit). If values are
    /// equal in the order of [`compare`](odm_mql::order::compare), such as 1 and 1.0, it MAY return any of them as a key, as the least and
    /// as the greatest value.
    async fn aggregate(&self, aggregate: &Aggregate, each: Each<'_>) -> Result<Cost> {
        aggregate.run_by_find(self, STORED, each).await
    }

    /// Runs a query, and returns how it ran.
    async fn explain(&self, find: &Find) -> Result<Explain>;

    /// Returns the index that a query uses, as [`Explain::index`] names it, without running the query.
    ///
    /// It is asked for the event of a query that has run. A store that would need a request to know it MAY
    /// return `None`.
    async fn index_of(&self, find: &Find) -> Result<Option<String>>;

    /// Returns the collation that a collection was [created](CollectionSpec::collation) with, for who compares its texts by no collation of
    /// their own. No read of the store uses it.
    ///
    /// The default returns `None`, for a store without [`Capabilities::collations`].
    async fn default_collation(&self, collection: &str) -> Result<Option<odm_mql::Collation>> {
        let _ = collection;
        Ok(None)
    }

    /// Returns a mark of the documents that a collection has in the state. A caller that caches a value computed from the documents
    /// compares marks, and learns without a read whether the documents are still the same.
    ///
    /// The default returns `None`, for a store that cannot tell without a read. A transaction MUST return `None`: a mark would replace a
    /// read, and its commit checks only its reads.
    fn mark(&self, collection: &str) -> Option<CollectionMark> {
        let _ = collection;
        None
    }
}

/// Receives documents. The first argument is a position, whose meaning the method states.
pub type Each<'a> = &'a mut (dyn FnMut(usize, &RawDocument) -> Result<ControlFlow<()>> + Send);

/// A set of writes that is applied as a whole.
#[async_trait]
pub trait UnitOfWork: Send + Sync {
    /// Applies the writes. An error rolls all of them back.
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()>;

    /// About how many documents it writes, as far as that is known before it runs. A store MAY run a large unit in another place than a small
    /// one.
    fn documents(&self) -> u64 {
        0
    }
}

/// When a write is safe from a crash.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::store::Durability;
///
/// let parts = shop.parts.durability(Durability::Eventual);
/// parts.update(1).inc(Part::fields().qty, 1).await?;
/// assert_eq!(shop.parts.get(1).await?.qty, 91); // visible at once, and durable soon
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Durability {
    /// When the call returns.
    #[default]
    Immediate,
    /// Some time after the call returns. A crash may lose the most recent commits, but never a part of a commit, nor a commit without all
    /// later ones.
    Eventual,
}

/// The identity of a store in this process: equal for all handles of one store, and different for
/// different stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StoreId(u64);

impl StoreId {
    /// Returns an identity that no other call in this process has returned.
    #[allow(
        clippy::new_without_default,
        reason = "a default would be a new value each time"
    )]
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        StoreId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}
