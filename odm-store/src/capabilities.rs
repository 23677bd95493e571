//! The capabilities of a store beyond the ones of every store.

use std::time::Duration;

use crate::StoreId;

/// The optional abilities of a store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// The transactions that commit have the effects of some order of them, one after another: [`Transaction`](crate::Transaction) has the
    /// details. The library then relies on the reads of a unit, and takes no locks. Without it, transactions have a snapshot and
    /// [locks](crate::Transaction::locks).
    pub serializable: bool,
    /// Others can write while a transaction is open, so that it may lose a conflict to them. Without it a second writer waits until the
    /// first transaction ends, so that a transaction excludes all other writes.
    pub outer_writes: bool,
    /// Several programs can have the store open at once. Their workers then take turns, by a lease in the store, and write in small units,
    /// which lose few conflicts to programs that this one cannot wait for.
    pub several_programs: bool,
    /// The identity of the store. With it, a task inside of a transaction gets an error for a read or a write outside of the transaction,
    /// which would wait for the task itself, or miss its own writes.
    pub id: Option<StoreId>,
    /// Indexes and orders can [ignore case](crate::IndexSpec::case_insensitive). Without it such an index is a
    /// [`Schema`](crate::ErrorKind::Schema) error, and such an order an [`InvalidQuery`](crate::ErrorKind::InvalidQuery).
    pub ignores_case: bool,
    /// Filters, orders, projections, updates and indexes can have [collations](odm_mql::Collation), and collections default ones. Without
    /// it a query with one is an [`InvalidQuery`](crate::ErrorKind::InvalidQuery), and such an index or collection a
    /// [`Schema`](crate::ErrorKind::Schema) error.
    pub collations: bool,
    /// Transactions can [change whole collections](crate::Transaction::change_collections). With this, a migration builds new collections
    /// beside the old ones, and replaces these by one commit. Without it, a migration changes documents in place, so that an interrupted
    /// one has to be continued.
    pub changes_collections: bool,
    /// How long a [single write](crate::Store::write_single) of an earlier epoch may still be under way after a new one has begun.
    /// `None` for stores without such writes, and for serializable ones, which are told of no epochs.
    pub single_document_writes: Option<Duration>,
    /// All writes fail with [`ReadOnly`](crate::ErrorKind::ReadOnly). A database opens without a write, if the store has it as its models
    /// declare it, and has no workers.
    pub read_only: bool,
}

impl Capabilities {
    /// Returns the capabilities with serializable transactions.
    pub fn serializable(self) -> Self {
        Capabilities {
            serializable: true,
            ..self
        }
    }

    /// Returns the capabilities with writes of others beside an open transaction.
    pub fn outer_writes(self) -> Self {
        Capabilities {
            outer_writes: true,
            ..self
        }
    }

    /// Returns the capabilities with several programs at once.
    pub fn several_programs(self) -> Self {
        Capabilities {
            several_programs: true,
            ..self
        }
    }

    /// Returns the capabilities with an identity.
    pub fn id(self, id: StoreId) -> Self {
        Capabilities {
            id: Some(id),
            ..self
        }
    }

    /// Returns the capabilities with indexes and orders that ignore case.
    pub fn ignores_case(self) -> Self {
        Capabilities {
            ignores_case: true,
            ..self
        }
    }

    /// Returns the capabilities with collations.
    pub fn collations(self) -> Self {
        Capabilities {
            collations: true,
            ..self
        }
    }

    /// Returns the capabilities with changes of whole collections.
    pub fn changes_collections(self) -> Self {
        Capabilities {
            changes_collections: true,
            ..self
        }
    }

    /// Returns the capabilities with single writes, which are under way for at most this long.
    pub fn single_document_writes(self, limit: Duration) -> Self {
        Capabilities {
            single_document_writes: Some(limit),
            ..self
        }
    }

    /// Returns the capabilities without writes.
    pub fn read_only(self) -> Self {
        Capabilities {
            read_only: true,
            ..self
        }
    }
}
