//! What the writer is asked for.

use std::sync::{Arc, atomic::AtomicBool};

use tokio::sync::{mpsc, oneshot};

use super::{session::Outcome, work::Work};
use crate::{
    error::Result,
    store::{CollectionSpec, Durability, UnitOfWork},
};

/// The answer to a request.
pub(super) type Reply<T> = oneshot::Sender<Result<T>>;

/// The writer's end of the queue. The other end waits, in order, while it is full.
pub(super) type Requests = mpsc::Receiver<Request>;

/// A request.
pub(super) enum Request {
    /// Run a unit of work.
    Unit {
        unit: Arc<dyn UnitOfWork>,
        durability: Durability,
        reply: Reply<()>,
    },
    /// Let someone else write.
    Lease {
        durability: Durability,
        /// Takes the work to begin with.
        granted: Reply<Work>,
        /// Its sender is with the one who asked, from before he asked: wherever that end gets
        /// lost, the writer goes on.
        outcome: oneshot::Receiver<Outcome>,
        expired: Arc<AtomicBool>,
    },
    /// Create what is missing.
    Ensure {
        collections: Vec<CollectionSpec>,
        reply: Reply<()>,
    },
    /// End.
    Close { reply: Reply<()> },
}
