//! The transactions of sessions.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex as SyncMutex, MutexGuard as SyncMutexGuard, PoisonError},
    time::{Duration, Instant},
};

use odm::{Collections, collections::CollectionsTransaction};
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::{SessionId, SessionUse};
use crate::error::{CommandError, Result, TRANSIENT, code};

/// The sessions that have begun a transaction. The commands of a transaction wait for each other.
#[derive(Debug, Default)]
pub(crate) struct Sessions(SyncMutex<HashMap<SessionId, Arc<Mutex<Transactions>>>>);

/// The last transaction of a session.
#[derive(Debug, Default)]
struct Transactions {
    number: i64,
    state: State,
    used: Option<Instant>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    None,
    Open {
        unit: Box<CollectionsTransaction>,
        database: String,
    },
    Committed,
    Aborted,
}

impl Sessions {
    fn all(&self) -> SyncMutexGuard<'_, HashMap<SessionId, Arc<Mutex<Transactions>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn lock(&self, id: SessionId) -> OwnedMutexGuard<Transactions> {
        let session = self.all().entry(id).or_default().clone();
        session.lock_owned().await
    }

    /// Takes the transaction of a session for one command, and begins it if the command says so.
    pub(crate) async fn transaction(
        &self,
        session: SessionUse,
        database: &str,
        collections: Option<&Collections>,
    ) -> Result<TransactionUse> {
        let number = session.number.unwrap_or_default();
        let mut of = self.lock(session.id).await;
        of.used = Some(Instant::now());
        if session.starts == Some(true) {
            of.check_new(number)?;
            let collections = collections.ok_or_else(|| {
                let message = "a transaction of this server begins with a command on a database that is served";
                CommandError::new(code::NOT_IN_TRANSACTION, message)
            })?;
            // An earlier transaction ends with this.
            of.number = number;
            of.state = State::Aborted;
            of.state = State::Open {
                unit: Box::new(collections.begin().await?),
                database: database.to_owned(),
            };
        }
        of.check_open(number)?;
        match &of.state {
            State::Open { database: of, .. } if of != database => {
                let message = format!(
                    "a transaction of this server is in one database, and this one is in '{of}'"
                );
                Err(CommandError::new(code::NOT_IN_TRANSACTION, message))
            }
            _ => Ok(TransactionUse { of, is_kept: false }),
        }
    }

    /// Commits the transaction of a session, also again.
    pub(crate) async fn commit(
        &self,
        session: SessionUse,
        databases: impl Iterator<Item = &Collections>,
    ) -> Result<()> {
        let number = session.number.unwrap_or_default();
        let mut of = self.lock(session.id).await;
        let part = session.part(number, 0, 1);
        if of.number != number || matches!(of.state, State::None) {
            // It may be a commit that is sent again to a server that has been started since.
            for collections in databases {
                if collections.done(&part).await?.is_some() {
                    return Ok(());
                }
            }
            return Err(no_transaction(number));
        }
        of.used = Some(Instant::now());
        match std::mem::replace(&mut of.state, State::Aborted) {
            State::Open { unit, .. } => {
                unit.commit_once(part)
                    .await
                    .map_err(|error| CommandError::from(error).in_transaction())?;
                of.state = State::Committed;
                Ok(())
            }
            State::Committed => {
                of.state = State::Committed;
                Ok(())
            }
            State::None | State::Aborted => Err(no_transaction(number)),
        }
    }

    /// Rolls the transaction of a session back.
    pub(crate) async fn abort(&self, session: SessionUse) -> Result<()> {
        let number = session.number.unwrap_or_default();
        let mut of = self.lock(session.id).await;
        of.check_open(number)?;
        if let State::Open { unit, .. } = std::mem::replace(&mut of.state, State::Aborted) {
            unit.rollback().await?;
        }
        Ok(())
    }

    /// Rolls back what a session has open, and forgets it.
    pub(crate) fn end(&self, id: SessionId) {
        self.all().remove(&id);
    }

    /// Rolls back transactions that were idle for this long, and forgets sessions that have none.
    pub(crate) fn sweep(&self, idle: Duration) {
        self.all().retain(|_, session| match session.try_lock() {
            // A command is running in it.
            Err(_) => true,
            Ok(mut of) => {
                let unused = of.used.map_or(Duration::ZERO, |used| used.elapsed());
                if unused > idle && matches!(of.state, State::Open { .. }) {
                    of.state = State::Aborted;
                }
                unused < SESSION_LIFE
            }
        });
    }
}

/// How long a session is remembered that is not used.
const SESSION_LIFE: Duration = Duration::from_secs(30 * 60);

impl Transactions {
    fn check_new(&self, number: i64) -> Result<()> {
        if number < self.number {
            let message = format!(
                "Cannot start transaction {number} on session because a newer transaction {} has already started",
                self.number
            );
            return Err(CommandError::new(code::TRANSACTION_TOO_OLD, message));
        }
        if number == self.number && !matches!(self.state, State::None) {
            let message = format!("transaction {number} has been started before");
            return Err(CommandError::new(
                code::CONFLICTING_OPERATION_IN_PROGRESS,
                message,
            ));
        }
        Ok(())
    }

    fn check_open(&self, number: i64) -> Result<()> {
        match self.state {
            State::Open { .. } if self.number == number => Ok(()),
            State::Committed if self.number == number => {
                let message = format!("Transaction {number} has been committed.");
                Err(CommandError::new(code::TRANSACTION_COMMITTED, message))
            }
            _ => Err(no_transaction(number)),
        }
    }
}

fn no_transaction(number: i64) -> CommandError {
    let message =
        format!("Given transaction number {number} does not match any in-progress transactions.");
    CommandError::new(code::NO_SUCH_TRANSACTION, message).with_label(TRANSIENT)
}

/// An open transaction, taken for one command. It is rolled back when it is dropped, unless it is kept.
pub(crate) struct TransactionUse {
    of: OwnedMutexGuard<Transactions>,
    is_kept: bool,
}

impl TransactionUse {
    /// The collections in the transaction.
    pub(crate) fn collections(&self) -> Option<&Collections> {
        match &self.of.state {
            State::Open { unit, .. } => Some(unit),
            State::None | State::Committed | State::Aborted => None,
        }
    }

    /// Leaves the transaction open for the next command.
    pub(crate) fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for TransactionUse {
    fn drop(&mut self) {
        if !self.is_kept {
            self.of.state = State::Aborted;
        }
    }
}
