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

/// A session for transactions one after another, with a name, from [`Store::session`].
#[async_trait]
pub trait StoreSession: Send + Sync {
    /// Returns the name, by which all programs know the session.
    fn id(&self) -> Bson;

    /// Opens a transaction, as [`Store::begin`] does, once the one before it has ended.
    async fn begin(&self, options: TransactionOptions) -> Result<Box<dyn Transaction>>;
}

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

/// Writes, and reads that see them.
///
/// All reads MUST see one committed state, like the reads of a [`Reader`], with the transaction's own writes. Transactions MUST NOT see
/// uncommitted writes of each other. If two overlapping transactions write the same document, or add the same key of a unique index, one
/// MUST wait for the other before it reads, or fail. Any method of a transaction that has lost a conflict, and on every store also the
/// [`commit`](Transaction::commit), MAY return a [retryable](crate::Error::is_retryable) error. A key that another transaction has taken
/// since is a conflict, and no [`DuplicateKey`](crate::ErrorKind::DuplicateKey).
///
/// A store with [`Capabilities::serializable`] promises more: the transactions that commit have the same effects, and were told the same,
/// as if they had run one after another. For a transaction that writes, all that it was told MUST still be true when it commits, apart from
/// its own writes, or the commit fails:
///
/// - the documents that it has read, and the absence of those that it has not found, so that of two transactions that each read what the
///   other writes one loses (no *write skew*, no *lost update*);
/// - the answers of its queries, counts and groups, whether an index, a range of an index or a scan has given them, and which documents its
///   updates and deletes have matched, so that a document that another transaction inserts, changes or removes meanwhile is a conflict if
///   an answer would have another document, number or row with it (no *phantom*).
///
/// More may count as read than was told, such as a whole collection. A transaction that writes nothing MUST commit without a conflict: its
/// place in the order is that of the state that it has read, so that each commit which the state has is before each one that it lacks (no
/// *read-only anomaly*).
///
/// After an error of a write the caller MUST NOT commit, and a store MAY refuse everything but a
/// rollback.
#[async_trait]
pub trait Transaction: Reader {
    /// Applies a batch: at most one write for each document, as one request. Returns the cost.
    ///
    /// The stored document MUST be the image after the write, byte for byte. A store MUST apply the removals of a collection first, so that
    /// another document of the batch can take a value that is given up by a removal. No caller sends a batch in which a document takes a
    /// value that another document has before the batch and gives up by a replacement.
    ///
    /// # Errors
    ///
    /// [`DuplicateKey`](crate::ErrorKind::DuplicateKey) if an `_id` of an insert, or a key of a
    /// unique index, is taken, with the location that [`Error::duplicate_id`](crate::Error::duplicate_id)
    /// and [`IndexSpec::duplicate_key`] have; [`Limit`](crate::ErrorKind::Limit) or
    /// [`Encode`](crate::ErrorKind::Encode) as [`check_document`] says, and if the transaction would
    /// write more documents than the store allows; [`Corrupt`](crate::ErrorKind::Corrupt) if the transaction has no
    /// document with the `_id` of a `before`, or, if the store compares them, another document than it;
    /// [`InvalidUpdate`](crate::ErrorKind::InvalidUpdate) if an `after` has another `_id`, or two arrays
    /// side by side in the fields of an index; [`Schema`](crate::ErrorKind::Schema) if the name of a
    /// collection is empty or has a NUL. The store MUST NOT apply a part.
    async fn apply(&mut self, batch: &[CollectionWrites<'_>]) -> Result<Cost>;

    /// Whether [`apply_with`](Transaction::apply_with) takes fewer requests than reading the documents of its updates. The default is
    /// `false`. The library does not use unread updates in a transaction that has [changes](Transaction::changes).
    fn has_unread_updates(&self) -> bool {
        false
    }

    /// Applies a batch, and updates of documents that the caller has not read, in any order. No document both is in the batch and matches
    /// an update, or matches two updates. Returns the positions of updates of one document that does not match or exist.
    ///
    /// The default reads the documents and applies a larger batch.
    ///
    /// # Errors
    ///
    /// The errors of [`update`](Transaction::update).
    async fn apply_with(
        &mut self,
        batch: &[CollectionWrites<'_>],
        updates: &[UnreadUpdate],
    ) -> Result<(Cost, Vec<usize>)> {
        apply_after_reads(self, batch, updates).await
    }

    /// Changes the documents that match a filter. A matching document without a change counts as matched, and not as modified.
    ///
    /// # Errors
    ///
    /// The errors of [`apply`](Transaction::apply), and [`InvalidUpdate`](crate::ErrorKind::InvalidUpdate) if the change cannot be applied
    /// to a document that matches.
    async fn update(&mut self, write: &UpdateWrite) -> Result<Updated>;

    /// Removes the documents that match a filter.
    async fn delete(&mut self, write: &DeleteWrite) -> Result<Deleted>;

    /// Changes whole collections, in their order, in a time that does not grow with their documents.
    ///
    /// The library calls it only on a store with [`Capabilities::changes_collections`]. The default refuses it.
    ///
    /// # Errors
    ///
    /// [`Schema`](crate::ErrorKind::Schema) if a collection that is to replace another one is not there, or if an index is invalid.
    async fn change_collections(&mut self, changes: &[CollectionChange]) -> Result<()> {
        let _ = changes;
        Err(Error::new(
            ErrorKind::InvalidQuery,
            "collections cannot be changed as a whole on this store: ask for `Capabilities::changes_collections`",
        ))
    }

    /// Lists the collections with their indexes, as the transaction has them, in the order of the names of both.
    ///
    /// The library calls it only on a store with [`Capabilities::changes_collections`]. The default refuses it.
    async fn collections(&self) -> Result<Vec<CollectionSpec>> {
        Err(Error::new(
            ErrorKind::InvalidQuery,
            "a transaction of this store knows no collections: ask for `Capabilities::changes_collections`",
        ))
    }

    /// Returns whether the transaction has made a collection: it was not there when the transaction began.
    ///
    /// The library calls it only on a store with [`Capabilities::changes_collections`]. The default refuses it.
    async fn has_made(&self, collection: &str) -> Result<bool> {
        let _ = collection;
        Err(Error::new(
            ErrorKind::InvalidQuery,
            "a transaction of this store knows no collections: ask for `Capabilities::changes_collections`",
        ))
    }

    /// Returns the changes of the transaction in watched collections, for the library to add to; `None` if the store has no [feed](Feed).
    fn changes(&mut self) -> Option<&mut FeedChanges> {
        None
    }

    /// Returns the locks that the transaction is about to take, for the library to add to. A store with [`Capabilities::serializable`]
    /// MUST return `None`, since a unit relies on its reads alone; any other store MUST return some.
    ///
    /// If two overlapping transactions lock the same, one of them exclusively, a store MUST let only one commit. The other MUST wait before
    /// it reads, or fail with a [retryable](crate::Error::is_retryable) error. Any transaction that writes shares the lock of the whole
    /// store against a [new epoch](Lock::NextEpoch). A store MAY take the locks with the next write, or with the commit, and MAY take more
    /// locks than requested. A transaction without writes needs no locks.
    fn locks(&mut self) -> Option<&mut Locks>;

    /// Takes the added locks at once: for a transaction that reads for long before it writes, and would lose them to others meanwhile. The
    /// default leaves them to the next write.
    async fn take_locks(&mut self) -> Result<()> {
        Ok(())
    }

    /// Says whether the reads from here on are made for a write, and not asked for by the caller of the transaction. The default ignores
    /// it.
    ///
    /// If only reads for writes have changed when a store finds a conflict at the commit, the store MAY do the
    /// [writes again](Transaction::set_rewrites).
    fn set_reads_for_writes(&mut self, is_for_writes: bool) {
        let _ = is_for_writes;
    }

    /// Gives the store a unit that does all writes of the transaction again, on another state. It fails with a retryable error if one of
    /// them has another outcome than before. The default drops it.
    fn set_rewrites(&mut self, rewrites: Arc<dyn UnitOfWork>) {
        let _ = rewrites;
    }

    /// Makes the writes durable and visible, or fails with a [retryable](crate::Error::is_retryable) error if the transaction has lost a
    /// conflict: the commit is the last moment to find one, on every store.
    ///
    /// After an error the writes MUST NOT become visible or be stored, with one exception: if the disk itself failed
    /// ([`Io`](crate::ErrorKind::Io) or [`Corrupt`](crate::ErrorKind::Corrupt)), all or none of them are stored, and the store MUST refuse
    /// writes until it is opened again. An error for a lost conflict MUST be [retryable](crate::Error::is_retryable), and of the kind
    /// [`TransactionAborted`](crate::ErrorKind::TransactionAborted).
    async fn commit(self: Box<Self>) -> Result<()>;

    /// Undoes the writes. If the transaction has read commits that no reader sees yet, this MUST wait until they are durable.
    async fn rollback(self: Box<Self>) -> Result<()>;
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

/// How a transaction behaves.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct TransactionOptions {
    /// When its commit is safe from a crash.
    pub durability: Durability,
    /// The error of the transaction before, if the same work is tried again. A store MAY have others wait for it for a bounded time.
    pub lost: Option<Error>,
}

impl TransactionOptions {
    /// Returns the options with this durability.
    pub fn durability(self, durability: Durability) -> Self {
        TransactionOptions { durability, ..self }
    }

    /// Returns the options of a transaction that tries again the work of one that has ended with this error.
    pub fn after(self, lost: Option<Error>) -> Self {
        TransactionOptions { lost, ..self }
    }
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
