//! The state that the connections of a server share.

use std::{
    collections::BTreeMap,
    fmt,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use odm::{Collections, Error, ErrorKind, Result};
use tokio::{
    sync::{Semaphore, SemaphorePermit, watch},
    task::JoinSet,
};

use super::{Builder, counters::Counters, slow::SlowOperations};
use crate::{
    auth, command::VIRTUAL, cursor::Cursors, limits::Limits, message::MAX_MESSAGE,
    operations::Operations, session::Sessions, snapshots::Snapshots,
};

/// How often cursors are looked at that nobody reads.
const SWEEP: Duration = Duration::from_secs(5);

/// The same, if cursors may be idle for a moment only.
const MIN_SWEEP: Duration = Duration::from_millis(10);

/// How often old answers are looked for.
const FORGET: Duration = Duration::from_secs(5 * 60);

/// How long the answer to a write is stored, for a client that sends the write again.
const ANSWER_LIFE: Duration = Duration::from_secs(30 * 60);

/// From which time on a command is a slow one, as for MongoDB.
const SLOW: Duration = Duration::from_millis(100);

/// The state that the connections of a server share.
pub(crate) struct ServerState {
    pub(crate) databases: BTreeMap<String, Collections>,
    pub(crate) limits: Limits,
    pub(crate) cursors: Cursors,
    pub(crate) sessions: Sessions,
    pub(crate) snapshots: Snapshots,
    /// The name of the server as a member of a replica set, by which drivers find it; `None` if they would not.
    pub(crate) member: Option<String>,
    pub(crate) counters: Counters,
    pub(crate) operations: Operations,
    pub(crate) slow: SlowOperations,
    pub(crate) started: Instant,
    /// Whether clients must prove to be users.
    pub(crate) requires_users: bool,
    /// The secret from which the challenges of names without a user follow.
    pub(crate) secret: [u8; 32],
    /// One permit for each further connection of a client that has not authenticated.
    pub(super) strangers: Arc<Semaphore>,
    #[cfg(feature = "tls")]
    pub(super) tls: Option<tokio_rustls::TlsAcceptor>,
    /// The memory of large messages, in KiB.
    memory: Semaphore,
    /// Whether the server ends.
    ending: watch::Receiver<bool>,
}

impl fmt::Debug for ServerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerState").finish_non_exhaustive()
    }
}

impl Builder {
    /// The state of a server with these settings, which listens at an address.
    ///
    /// # Errors
    ///
    /// Those of [`listen`](Builder::listen) that are not about the address.
    pub(crate) async fn state(
        self,
        address: Option<SocketAddr>,
        shown: Option<String>,
        ending: watch::Receiver<bool>,
    ) -> Result<ServerState> {
        let mut databases = BTreeMap::new();
        for (name, collections) in self.databases {
            let refused = |why| {
                let message = format!("database `{name}` cannot be served: {why}");
                Error::new(ErrorKind::InvalidQuery, message)
            };
            if !crate::command::is_database_name(&name) {
                return Err(refused("MongoDB allows no such name"));
            }
            if collections.capabilities().several_programs {
                return Err(refused(
                    "it is on a server already, which clients would write past this one: let them write through a program, or copy the \
                     database into an embedded store",
                ));
            }
            if VIRTUAL.contains(&name.as_str()) {
                return Err(refused("every server has an empty database of this name"));
            }
            if databases.insert(name.clone(), collections).is_some() {
                return Err(refused("there are two of this name"));
            }
        }
        let memory = self.limits.message_memory.max(MAX_MESSAGE);
        let secret = match databases.values().next() {
            Some(first) if self.requires_users => auth::secret(first).await?,
            _ => auth::random()?,
        };
        let strangers = self.limits.connections.div_ceil(2);
        Ok(ServerState {
            databases,
            cursors: Cursors::new(self.limits.cursors),
            sessions: Sessions::new(self.limits.transactions),
            snapshots: Snapshots::new(self.limits.snapshots, self.limits.snapshot_life),
            member: match (self.host, address) {
                // The case of a host means nothing, and drivers write it in lower case.
                (Some(host), _) => Some(host.to_lowercase()),
                (None, Some(address)) => Some(address)
                    .filter(|address| !address.ip().is_unspecified())
                    .map(|address| address.to_string()),
                // Drivers would not find the path of a socket in lower case.
                (None, None) => shown.filter(|path| *path == path.to_lowercase()),
            },
            requires_users: self.requires_users,
            secret,
            strangers: Arc::new(Semaphore::new(strangers.min(Semaphore::MAX_PERMITS))),
            #[cfg(feature = "tls")]
            tls: self.tls.map(tokio_rustls::TlsAcceptor::from),
            counters: Counters::default(),
            operations: Operations::default(),
            slow: SlowOperations::new(self.slow_operation.unwrap_or(SLOW)),
            started: Instant::now(),
            memory: Semaphore::new(kibibytes(memory) as usize),
            limits: self.limits,
            ending,
        })
    }
}

impl ServerState {
    /// Waits until there is memory for a message.
    pub(crate) async fn memory_for(&self, length: usize) -> SemaphorePermit<'_> {
        let permits = kibibytes(length);
        let permit = self.memory.acquire_many(permits).await;
        permit.expect("the semaphore is never closed")
    }

    /// Waits until the server ends.
    pub(crate) async fn until_end(&self) {
        let mut ending = self.ending.clone();
        // Its other end is gone with the server.
        let _ = ending.wait_for(|is_ending| *is_ending).await;
    }

    /// Whether the server has ended, or is about to.
    #[cfg(feature = "http")]
    pub(crate) fn is_ending(&self) -> bool {
        *self.ending.borrow() || self.ending.has_changed().is_err()
    }

    /// Removes the cursors, transactions and answers that clients have left, until the tasks are dropped.
    pub(crate) fn sweep(self: Arc<Self>) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        tasks.spawn(sweep_idle(self.clone()));
        tasks.spawn(forget_answers(self));
        tasks
    }
}

/// Closes cursors and transactions that nobody uses.
async fn sweep_idle(state: Arc<ServerState>) {
    let limits = &state.limits;
    let idle = limits.idle_cursor.min(limits.idle_transaction);
    let shortest = idle.min(limits.snapshot_life);
    let mut interval = tokio::time::interval(SWEEP.min(shortest / 2).max(MIN_SWEEP));
    loop {
        interval.tick().await;
        state.cursors.sweep(limits.idle_cursor);
        state.sessions.sweep(limits.idle_transaction);
        state.snapshots.sweep();
        state
            .databases
            .values()
            .for_each(Collections::forget_commits);
    }
}

/// Removes the stored answers of clients that will not send their commands again.
async fn forget_answers(state: Arc<ServerState>) {
    loop {
        tokio::time::sleep(FORGET).await;
        for (database, collections) in &state.databases {
            if let Err(error) = collections.forget_answers(ANSWER_LIFE).await {
                tracing::warn!(target: "odm", database, %error, "old answers of clients are not removed");
            }
        }
    }
}

fn kibibytes(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(1 << 10)).unwrap_or(u32::MAX)
}
