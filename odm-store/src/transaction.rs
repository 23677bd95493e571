//! A transaction, its options, and a session of several.

use std::sync::Arc;

use async_trait::async_trait;
use bson::Bson;

#[cfg(doc)]
use super::{Capabilities, Feed, IndexSpec, Lock, Store, check_document};
use super::{
    CollectionChange, CollectionSpec, CollectionWrites, Cost, DeleteWrite, Deleted, Durability,
    Error, ErrorKind, FeedChanges, Locks, Reader, Result, UnitOfWork, UnreadUpdate, UpdateWrite,
    Updated, apply_after_reads,
};

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
/// - the documents that it has read, and the absence of the documents that it has not found: if each of two transactions reads a document
///   that the other one writes, one of them loses (no *write skew*, no *lost update*);
/// - the answers of its queries, counts and groups, whether an index, a range of an index or a scan has given them, and which documents its
///   updates and deletes have matched, so that a document that another transaction inserts, changes or removes meanwhile is a conflict if
///   an answer would have another document, number or row with it (no *phantom*).
///
/// More may count as read than was told, such as a whole collection. A transaction that writes nothing MUST commit without a conflict. It
/// takes the place of its state in the order: the commits in that state come before it, and all other commits after it (no *read-only
/// anomaly*).
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

    /// Returns the options of another try, after a transaction with the same work has ended with this error.
    pub fn after(self, lost: Option<Error>) -> Self {
        TransactionOptions { lost, ..self }
    }
}

/// A session for transactions one after another, with a name, from [`Store::session`].
#[async_trait]
pub trait StoreSession: Send + Sync {
    /// Returns the name, by which all programs know the session.
    fn id(&self) -> Bson;

    /// Opens a transaction, as [`Store::begin`] does, once the one before it has ended.
    async fn begin(&self, options: TransactionOptions) -> Result<Box<dyn Transaction>>;
}
