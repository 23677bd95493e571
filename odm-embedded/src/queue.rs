//! The requests to the writer.

use std::sync::Arc;

use odm_store::{CollectionSpec, Durability, Result, UnitOfWork};
use tokio::sync::{mpsc, oneshot};

use super::{
    compact::Compacted,
    reservations::{LostReads, Reservation},
    snapshot::{OpenTransaction, Snapshot},
    transaction::PendingCommit,
};

/// The channel for the answer to a request.
pub(super) type Reply<T> = oneshot::Sender<Result<T>>;

/// The writer's end of the queue. Senders wait, in order, while it is full.
pub(super) type Requests = mpsc::Receiver<Request>;

/// The state of a transaction with a reservation.
pub(super) type ReservedState = (Arc<Snapshot>, OpenTransaction, Arc<Reservation>);

/// A request.
pub(super) enum Request {
    /// Runs a unit of work.
    Unit {
        unit: Arc<dyn UnitOfWork>,
        durability: Durability,
        /// Whether it waits for reservations.
        waits: bool,
        reply: Reply<()>,
    },
    /// Begins a transaction with a reservation, on a state that has all commits.
    Reserve {
        lost: Arc<LostReads>,
        reply: Reply<ReservedState>,
    },
    /// Commits the transaction of a caller.
    Commit {
        pending: Box<PendingCommit>,
        reply: Reply<()>,
    },
    /// Creates missing collections and indexes.
    Ensure {
        collections: Vec<CollectionSpec>,
        reply: Reply<()>,
    },
    /// Returns a state that is durable in the engine, and has no memtable.
    Snapshot { reply: Reply<Arc<Snapshot>> },
    /// Verifies the checksums of the file, and returns its state.
    Check { reply: Reply<Arc<Snapshot>> },
    /// Rewrites the file without its free space.
    Compact { reply: Reply<Compacted> },
    /// Closes the store.
    Close { reply: Reply<()> },
}
