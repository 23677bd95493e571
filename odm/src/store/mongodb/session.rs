//! A session of the driver: the snapshot of a reader, or a transaction.

use std::{
    fmt,
    ops::DerefMut,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use ::mongodb::{
    ClientSession,
    error::UNKNOWN_TRANSACTION_COMMIT_RESULT,
    options::{Acknowledgment, ReadConcern, WriteConcern},
};
use tokio::sync::{Mutex, OnceCell};

use super::{Connection, error::translate, lock::Slots};
use crate::{
    error::{Error, Result},
    store::{Durability, Locks, UnitOfWork},
};

/// How often a commit is sent whose answer is lost.
const COMMITS: usize = 5;

/// Reads of one state, and the writes of a transaction. A session has one request at a time.
pub(super) struct Session {
    pub(super) connection: Arc<Connection>,
    /// Empty before the first read of a snapshot.
    session: OnceCell<Mutex<ClientSession>>,
    /// Something was sent.
    is_used: AtomicBool,
    /// The locks that are added for the next write.
    pub(super) locks: Locks,
    pub(super) slots: Slots,
    /// Something was written.
    pub(super) has_written: bool,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

impl Session {
    pub(super) fn of_snapshot(connection: Arc<Connection>) -> Self {
        Session {
            connection,
            session: OnceCell::new(),
            is_used: AtomicBool::new(false),
            locks: Locks::default(),
            slots: Slots::default(),
            has_written: false,
        }
    }

    /// Begins a transaction. Nothing is sent before its first request; dropped, it is aborted by the driver.
    pub(super) async fn of_transaction(
        connection: Arc<Connection>,
        durability: Durability,
    ) -> Result<Self> {
        let begin = async {
            let mut session = connection.client.start_session().await?;
            let concern = match durability {
                Durability::Immediate => WriteConcern::majority(),
                Durability::Eventual => WriteConcern::from(Acknowledgment::Nodes(1)),
            };
            let options = session
                .start_transaction()
                .read_concern(ReadConcern::snapshot());
            options.write_concern(concern).await?;
            Ok(session)
        };
        let session = begin.await.map_err(|error| translate(error, None))?;
        Ok(Session {
            connection,
            session: OnceCell::new_with(Some(Mutex::new(session))),
            is_used: AtomicBool::new(false),
            locks: Locks::default(),
            slots: Slots::default(),
            has_written: false,
        })
    }

    /// Whether a request was sent before.
    pub(super) fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Relaxed)
    }

    /// The driver's session, for a request. Whoever has it is alone.
    pub(super) async fn lock(&self) -> Result<impl DerefMut<Target = ClientSession>> {
        self.connection.check_open()?;
        self.is_used.store(true, Ordering::Relaxed);
        let start = async || {
            let started = self.connection.client.start_session().snapshot(true).await;
            let session = started.map_err(|error| translate(error, None))?;
            Ok::<_, Error>(Mutex::new(session))
        };
        Ok(self.session.get_or_try_init(start).await?.lock().await)
    }

    /// Runs a unit and commits, after it has changed slots that the unit needed when it ran before: so it cannot lose them
    /// to others for ever.
    pub(super) async fn run(&mut self, unit: &dyn UnitOfWork, slots: Slots) -> Result<()> {
        self.slots = slots;
        let run = async {
            self.write_slots().await?;
            unit.run(self).await
        };
        match run.await {
            Ok(()) => self.commit_all().await,
            Err(error) => {
                self.abort().await;
                Err(error)
            }
        }
    }

    /// The slots to begin with when the unit is run again.
    pub(super) fn into_slots_again(self) -> Slots {
        Slots::again(self.slots.into_exclusive())
    }

    pub(super) async fn commit_all(&mut self) -> Result<()> {
        if self.has_written {
            self.add_locks()?;
            self.write_slots().await?;
        }
        let mut session = self.lock().await?;
        for _ in 1..COMMITS {
            match session.commit_transaction().await {
                // The commit is idempotent.
                Err(error) if error.contains_label(UNKNOWN_TRANSACTION_COMMIT_RESULT) => {}
                result => return result.map_err(|error| translate(error, None)),
            }
        }
        let last = session.commit_transaction().await;
        // The unit may be stored, and must not be run again.
        last.map_err(|error| translate(error, None).not_retryable())
    }

    /// Aborts the transaction. The server does so by itself where it is not told.
    pub(super) async fn abort(&self) {
        if let Ok(mut session) = self.lock().await {
            session.abort_transaction().await.ok();
        }
    }
}
