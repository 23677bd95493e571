//! What the layers above need of a document store.
//!
//! A store knows documents, keys, indexes and validators. It knows no model and no relation: those
//! are the catalog's, and the writes that follow from them are planned in `maintain`, which asks a
//! store for its [`Capabilities`], never for its name.

pub mod embedded;

use std::{ops::ControlFlow, sync::Arc};

use async_trait::async_trait;
use bson::{RawBson, RawDocument, RawDocumentBuf};

use crate::{
    error::Result,
    mql::{Filter, Projection, Sort, Update},
};

/// A place where documents are kept.
///
/// Every write goes through [`run`](Store::run) or [`begin`](Store::begin), so that it is one unit:
/// all of it is stored, or none.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Tells this store from others: the same for every handle on the same data in this process.
    fn identity(&self) -> usize;

    /// What this store can do by itself.
    fn capabilities(&self) -> Capabilities;

    /// A consistent view of what is committed now. All reads through one reader see the same state.
    ///
    /// A reader that is kept for long keeps old data alive; take a new one for each operation.
    fn reader(&self) -> Result<Arc<dyn Reader>>;

    /// Creates the collections and indexes that are missing. What exists already is left alone; an
    /// index that exists under the same name with other keys is an error.
    async fn ensure(&self, collections: &[CollectionSpec]) -> Result<()>;

    /// Runs a unit of work as a whole or not at all, and returns when it is as durable as asked.
    ///
    /// Dropping the future either prevents the unit or lets all of it happen. A store may run the
    /// unit more than once, on a fresh state each time, if it loses a race.
    async fn run(&self, unit: Arc<dyn UnitOfWork>, durability: Durability) -> Result<()>;

    /// Opens a transaction that the caller drives. Dropping it rolls it back.
    async fn begin(&self, options: TransactionOptions) -> Result<Box<dyn Transaction>>;

    /// Makes everything durable that was committed with [`Durability::Eventual`], and refuses what
    /// comes later.
    async fn close(&self) -> Result<()>;
}

/// Reads on one consistent state.
///
/// Documents are handed to a callback as they lie in the store, so that a caller can decode them
/// without a copy in between.
#[async_trait]
pub trait Reader: Send + Sync {
    /// Looks up documents by `_id`, and hands over each one that exists with its position in `ids`.
    /// The order of the calls is the store's own; an id that occurs twice is handed over twice.
    async fn get(&self, collection: &str, ids: &[RawBson], each: Each<'_>) -> Result<Cost>;

    /// Runs a query, and hands over each document with its position in the result.
    async fn find(&self, find: &Find, each: Each<'_>) -> Result<Cost>;

    /// Runs one query for each of several keys of a field, as one request: at most `limit`
    /// documents for each key, in the order of the query's sort. Hands over the position of the key.
    async fn find_by_key(&self, find: &FindByKey, each: Each<'_>) -> Result<Cost>;

    /// The number of documents that a query would return.
    async fn count(&self, find: &Find) -> Result<(u64, Cost)>;

    /// How a query would run, and what it touches when it does: the query is run.
    async fn explain(&self, find: &Find) -> Result<Explain>;
}

/// Receives documents. The first argument is a position, whose meaning the method states.
pub type Each<'a> = &'a mut (dyn FnMut(usize, &RawDocument) -> Result<ControlFlow<()>> + Send);

/// A set of writes that is applied as a whole.
#[async_trait]
pub trait UnitOfWork: Send + Sync {
    /// Applies the writes. An error rolls all of them back.
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()>;
}

/// Writes, and reads that see them.
///
/// After an error nothing of the failed call is left; the transaction can go on.
#[async_trait]
pub trait Transaction: Reader {
    /// Adds documents. Each must have an `_id`; one that is taken, in the collection or in a unique
    /// index, is an error of kind `DuplicateKey`.
    async fn insert(&mut self, collection: &str, documents: &[RawDocumentBuf]) -> Result<()>;

    /// Changes the documents that match, by update operators or by a whole document, and returns
    /// what each was and has become. A document that the update leaves as it was counts as matched
    /// and is no change.
    async fn update(&mut self, write: &UpdateWrite) -> Result<Updated>;

    /// Removes documents, and returns them.
    async fn delete(&mut self, write: &DeleteWrite) -> Result<Vec<RawDocumentBuf>>;

    /// What this transaction has touched so far.
    fn cost(&self) -> Cost;

    /// Makes the writes durable and visible. An error means that none of them is visible, and none is
    /// stored; only if the disk itself failed (kind `Io` or `Corrupt`) does the embedded store know
    /// whether they were stored, all or none, when it is opened again. Until then it takes no writes.
    async fn commit(self: Box<Self>) -> Result<()>;

    /// Undoes the writes.
    async fn rollback(self: Box<Self>) -> Result<()>;
}

/// A query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Find {
    /// The collection.
    pub collection: String,
    /// Which documents.
    pub filter: Filter,
    /// In which order. `_id` follows as the last key if it is not in it, so that the order is
    /// total; an empty sort is the order of `_id`.
    pub sort: Sort,
    /// How many to pass over.
    pub skip: u64,
    /// How many to return at most.
    pub limit: Option<u64>,
    /// Which fields to return; all by default.
    pub projection: Option<Projection>,
    /// Return only what comes after this position: a value for each key of the total order, as
    /// [`Sort::key`] gives them.
    pub after: Option<Vec<RawBson>>,
}

/// One query for each of several keys: the documents whose field `path` equals the key, or holds it
/// in an array.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FindByKey {
    /// The query that is run for each key; its `limit` and `skip` count for each key, and its
    /// `after` must be absent.
    pub find: Find,
    /// The field that is compared with the keys.
    pub path: String,
    /// The keys.
    pub keys: Vec<RawBson>,
}

/// A change of the documents that match a filter.
#[derive(Debug, Clone, PartialEq)]
pub struct UpdateWrite {
    /// The collection.
    pub collection: String,
    /// Which documents.
    pub filter: Filter,
    /// Where `multi` is false: which of the documents that match, by order.
    pub sort: Sort,
    /// What to do with them.
    pub change: Change,
    /// All that match, or the first.
    pub multi: bool,
    /// Insert a document where none matches.
    pub upsert: bool,
}

/// How a document is changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// By operators.
    Update(Update),
    /// By a whole document, whose `_id` is absent or the old one.
    Replace(RawDocumentBuf),
}

/// A removal of the documents that match a filter.
#[derive(Debug, Clone, PartialEq)]
pub struct DeleteWrite {
    /// The collection.
    pub collection: String,
    /// Which documents.
    pub filter: Filter,
    /// All that match, or the first in the order of `_id`.
    pub multi: bool,
}

/// What an update did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Updated {
    /// How many documents matched.
    pub matched: u64,
    /// The documents that are different now.
    pub changes: Vec<Changed>,
    /// The document that was inserted, as nothing matched.
    pub upserted: Option<RawDocumentBuf>,
}

/// One document, before and after.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// As it was.
    pub before: RawDocumentBuf,
    /// As it is.
    pub after: RawDocumentBuf,
}

/// When a write is safe from a crash.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Durability {
    /// When the call returns.
    #[default]
    Immediate,
    /// Soon after the call returns: a crash may lose the last moments, but never a part of a unit,
    /// nor a unit before one that it keeps.
    Eventual,
}

/// How a transaction behaves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TransactionOptions {
    /// When its commit is safe.
    pub durability: Durability,
}

/// What a store does by itself, so that the layers above need not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// A transaction sees no effect of another that runs at the same time, and what it has read
    /// stays true until it commits.
    pub serializable: bool,
}

/// A collection as the models declare it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CollectionSpec {
    /// Its name.
    pub name: String,
    /// Its indexes, besides the one on `_id`.
    pub indexes: Vec<IndexSpec>,
}

/// An index as the models declare it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexSpec {
    /// Its name, unique in the collection.
    pub name: String,
    /// Its fields, in order.
    pub keys: Vec<(String, Direction)>,
    /// No two documents may have the same key.
    pub unique: bool,
    /// Leave out documents in which one of the fields is missing or null, so that `unique` means
    /// unique among those present.
    pub present_only: bool,
}

pub use crate::mql::Direction;

/// What an operation touched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Requests to the store.
    pub queries: u64,
    /// Index entries looked at.
    pub keys_examined: u64,
    /// Documents looked at.
    pub documents_examined: u64,
    /// Documents handed over.
    pub documents_returned: u64,
    /// Documents inserted, changed or removed.
    pub documents_written: u64,
}

impl std::ops::Sub for Cost {
    type Output = Cost;

    fn sub(self, earlier: Self) -> Self {
        Cost {
            queries: self.queries - earlier.queries,
            keys_examined: self.keys_examined - earlier.keys_examined,
            documents_examined: self.documents_examined - earlier.documents_examined,
            documents_returned: self.documents_returned - earlier.documents_returned,
            documents_written: self.documents_written - earlier.documents_written,
        }
    }
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.queries += other.queries;
        self.keys_examined += other.keys_examined;
        self.documents_examined += other.documents_examined;
        self.documents_returned += other.documents_returned;
        self.documents_written += other.documents_written;
    }
}

/// How a query ran.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Explain {
    /// The index that was used: its name, `_id`, or none for a scan of the collection.
    pub index: Option<String>,
    /// The bounds of each indexed field that were used, in words.
    pub bounds: Vec<String>,
    /// Whether the index gave the order, so that nothing was sorted in memory.
    pub sorted_by_index: bool,
    /// What it touched.
    pub cost: Cost,
}
