//! The limits of the clients of a server.

use std::time::Duration;

/// The limits of a server, which [`Builder::limits`](crate::Builder::limits) sets.
///
/// ```
/// use std::time::Duration;
/// use odm_server::Limits;
///
/// let limits = Limits::default().connections(100).idle_cursor(Duration::from_secs(60));
/// assert_ne!(limits, Limits::default());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    pub(crate) connections: usize,
    pub(crate) cursors: usize,
    pub(crate) idle_cursor: Duration,
    pub(crate) transactions: usize,
    pub(crate) idle_transaction: Duration,
    pub(crate) snapshots: usize,
    pub(crate) snapshot_life: Duration,
    pub(crate) message_memory: usize,
    pub(crate) shutdown: Duration,
    pub(crate) unauthenticated: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connections: 1_000,
            cursors: 1_000,
            idle_cursor: Duration::from_secs(600),
            transactions: 1_000,
            idle_transaction: Duration::from_secs(60),
            snapshots: 1_000,
            snapshot_life: Duration::from_secs(60),
            message_memory: 256 << 20,
            shutdown: Duration::from_secs(10),
            unauthenticated: Duration::from_secs(120),
        }
    }
}

impl Limits {
    /// The number of connections at a time, 1,000 by default. A further one is closed. Where the server
    /// [requires users](crate::Builder::require_users), half of them are kept for clients that have authenticated: silent strangers cannot
    /// take them. A driver has one or two connections more, which only ask for the state of the server and do not
    /// authenticate.
    #[must_use]
    pub fn connections(mut self, number: usize) -> Self {
        self.connections = number;
        self
    }

    /// The number of open cursors, 1,000 by default. A query that needs a further one fails with the code 146.
    #[must_use]
    pub fn cursors(mut self, number: usize) -> Self {
        self.cursors = number;
        self
    }

    /// How long a cursor stays open that nobody reads, 10 minutes by default.
    #[must_use]
    pub fn idle_cursor(mut self, time: Duration) -> Self {
        self.idle_cursor = time;
        self
    }

    /// The number of open transactions, 1,000 by default. A further one fails with the code 146.
    #[must_use]
    pub fn transactions(mut self, number: usize) -> Self {
        self.transactions = number;
        self
    }

    /// How long a transaction stays open in which no command is sent, 60 seconds by default. Nobody waits for it meanwhile.
    #[must_use]
    pub fn idle_transaction(mut self, time: Duration) -> Self {
        self.idle_transaction = time;
        self
    }

    /// The number of snapshots that clients can read by their `atClusterTime`, 1,000 by default. A further one ends the oldest of the user
    /// who has the most: each user has their own.
    #[must_use]
    pub fn snapshots(mut self, number: usize) -> Self {
        self.snapshots = number;
        self
    }

    /// How long a snapshot can be read by its `atClusterTime`, from its first read on, 60 seconds by default. The stores keep data that is
    /// replaced meanwhile. A later read fails with the code 239.
    #[must_use]
    pub fn snapshot_life(mut self, time: Duration) -> Self {
        self.snapshot_life = time;
        self
    }

    /// The bytes of all messages of more than 64 KiB at a time, 256 MiB by default, and at least 48 MB. Further ones wait. A message must
    /// come within 30 seconds, and one more for each MiB of it.
    #[must_use]
    pub fn message_memory(mut self, bytes: usize) -> Self {
        self.message_memory = bytes;
        self
    }

    /// How long a client that has not proved which user it is may be silent, 2 minutes by default: then its connection is closed. It holds
    /// where the server [requires users](crate::Builder::require_users). Drivers have connections that only ask for the state of the
    /// server, as a rule each 10 seconds.
    #[must_use]
    pub fn unauthenticated(mut self, time: Duration) -> Self {
        self.unauthenticated = time;
        self
    }

    /// How long [`Server::shutdown`](crate::Server::shutdown) waits for the commands that are running, 10 seconds by default.
    #[must_use]
    pub fn shutdown(mut self, time: Duration) -> Self {
        self.shutdown = time;
        self
    }
}
