//! The transactions of sessions.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex as SyncMutex, PoisonError},
    time::{Duration, Instant},
};

use odm::{
    Collections,
    bson::DateTime,
    collections::{CollectionsTransaction, Retryable},
};
use tokio::sync::{Mutex, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

use super::{SessionId, SessionUse};
use crate::{
    auth::{UserDigest, UserRights},
    error::{CommandError, Result, TRANSIENT, code},
};

/// The sessions of commands. Commands of one session wait for each other if they are in a transaction, or are writes that may be sent
/// again.
#[derive(Debug)]
pub(crate) struct Sessions {
    all: SyncMutex<HashMap<Option<UserDigest>, KnownOfUser>>,
    /// One permit for each further transaction.
    transactions: Arc<Semaphore>,
}

/// The sessions of one user.
type KnownOfUser = HashMap<SessionId, Known>;

/// A known session.
#[derive(Debug)]
struct Known {
    /// When it was used last, for users who list it.
    shown: DateTime,
    /// The same by a clock that never jumps, for its end.
    used: Instant,
    transactions: Arc<Mutex<Transactions>>,
}

/// The number of sessions at a time, as MongoDB bounds it.
const MAX_SESSIONS: usize = 1_000_000;

/// The number of sessions of one user at a time: a user cannot use up the sessions of all others.
const MAX_SESSIONS_OF_USER: usize = 100_000;

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
        /// The rights of the user in the last command.
        rights: Option<Arc<UserRights>>,
        _permit: OwnedSemaphorePermit,
    },
    Committed,
    Aborted,
}

impl Sessions {
    pub(crate) fn new(transactions: usize) -> Self {
        Sessions {
            all: SyncMutex::default(),
            transactions: Arc::new(Semaphore::new(transactions.min(Semaphore::MAX_PERMITS))),
        }
    }

    fn with_all<T>(
        &self,
        of: impl FnOnce(&mut HashMap<Option<UserDigest>, KnownOfUser>) -> T,
    ) -> T {
        of(&mut self.all.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notes that a session is used.
    ///
    /// # Errors
    ///
    /// There are as many as the limit, of all or of its user.
    pub(crate) fn touch(&self, id: SessionId) -> Result<()> {
        self.known(id).map(drop)
    }

    fn known(&self, id: SessionId) -> Result<Arc<Mutex<Transactions>>> {
        let (shown, used) = (DateTime::now(), Instant::now());
        self.with_all(|all| {
            let number: usize = all.values().map(KnownOfUser::len).sum();
            let of_user = all.entry(id.user).or_default();
            let is_full = number >= MAX_SESSIONS
                || (id.user.is_some() && of_user.len() >= MAX_SESSIONS_OF_USER);
            if is_full && !of_user.contains_key(&id) {
                let message = "Unable to add session ID into the cache because the number of active sessions is too high";
                return Err(CommandError::new(code::TOO_MANY_SESSIONS, message));
            }
            let known = of_user.entry(id).or_insert_with(|| Known {
                shown,
                used,
                transactions: Arc::default(),
            });
            (known.shown, known.used) = (shown, used);
            Ok(known.transactions.clone())
        })
    }

    /// The sessions of a user, with the time of their last use.
    pub(crate) fn list(&self, user: Option<UserDigest>) -> Vec<(SessionId, DateTime)> {
        self.with_all(|all| {
            let of_user = all.get(&user).into_iter().flatten();
            of_user.map(|(id, known)| (*id, known.shown)).collect()
        })
    }

    async fn lock(&self, id: SessionId) -> Result<OwnedMutexGuard<Transactions>> {
        let mut locked = self.known(id)?.lock_owned().await;
        locked.used = Some(Instant::now());
        Ok(locked)
    }

    /// Waits for the turn of a write that its client may send again: two copies of one must not run at once. An older transaction of the
    /// session ends with it.
    pub(crate) async fn turn(&self, id: SessionId, number: i64) -> Result<impl Drop + use<>> {
        let mut of = self.lock(id).await?;
        if number > of.number {
            of.number = number;
            of.state = State::None;
        }
        Ok(of)
    }

    /// Takes the transaction of a session for one command, and begins it if the command says so.
    pub(crate) async fn transaction(
        &self,
        session: SessionUse,
        (database, collections): (&str, Option<&Collections>),
        rights: Option<&Arc<UserRights>>,
    ) -> Result<TransactionUse> {
        let number = session.number.unwrap_or_default();
        let mut of = self.lock(session.id).await?;
        if session.starts == Some(true) {
            of.check_new(number)?;
            let collections = collections.ok_or_else(|| {
                let message = "a transaction of this server begins with a command on a database that is served";
                CommandError::new(code::NOT_IN_TRANSACTION, message)
            })?;
            // An earlier transaction ends with this.
            of.number = number;
            of.state = State::Aborted;
            let permit = self.transactions.clone().try_acquire_owned().map_err(|_| {
                let message =
                    "there are as many open transactions as the limit of the server: end others";
                CommandError::new(code::EXCEEDED_MEMORY_LIMIT, message)
            })?;
            of.state = State::Open {
                unit: Box::new(collections.begin().await?),
                database: database.to_owned(),
                rights: rights.cloned(),
                _permit: permit,
            };
        }
        of.check_open(number)?;
        of.check_rights(rights)?;
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

    /// Commits the transaction of a session, unless its user has lost a right meanwhile; a repeated commit has the same answer.
    pub(crate) async fn commit(
        &self,
        session: SessionUse,
        databases: Vec<Collections>,
        rights: Option<&Arc<UserRights>>,
    ) -> Result<()> {
        let number = session.number.unwrap_or_default();
        let part = session.part(number, 0, 1);
        let mut of = self.lock(session.id).await?;
        if of.number == number {
            of.check_rights(rights)?;
        }
        // A client that goes meanwhile commits again, and must learn how this has ended.
        let committed = tokio::spawn(commit(of, number, part, databases)).await;
        committed.unwrap_or_else(|_| Err(no_transaction(number)))
    }

    /// Rolls the transaction of a session back.
    pub(crate) async fn abort(&self, session: SessionUse) -> Result<()> {
        let number = session.number.unwrap_or_default();
        let mut of = self.lock(session.id).await?;
        of.check_open(number)?;
        if let State::Open { unit, .. } = std::mem::replace(&mut of.state, State::Aborted) {
            unit.rollback().await?;
        }
        Ok(())
    }

    /// Rolls back the open transaction of a session, and forgets it.
    pub(crate) fn end(&self, id: SessionId) {
        self.with_all(|all| {
            all.get_mut(&id.user)
                .and_then(|of_user| of_user.remove(&id))
        });
    }

    /// Rolls back transactions that were idle for this long, and forgets sessions that have none.
    pub(crate) fn sweep(&self, idle: Duration) {
        self.with_all(|all| {
            all.retain(|_, of_user| {
                of_user.retain(|_, known| known.is_kept(idle));
                !of_user.is_empty()
            });
        });
    }
}

/// How long a session is remembered that is not used.
const SESSION_LIFE: Duration = Duration::from_secs(30 * 60);

impl Known {
    /// Rolls back a transaction that was idle for this long. Returns whether the session is remembered.
    fn is_kept(&self, idle: Duration) -> bool {
        // A command is running in it, or about to.
        if Arc::strong_count(&self.transactions) > 1 {
            return true;
        }
        let Ok(mut of) = self.transactions.try_lock() else {
            return true;
        };
        let unused = of.used.map_or(Duration::ZERO, |used| used.elapsed());
        if unused > idle && matches!(of.state, State::Open { .. }) {
            of.state = State::Aborted;
        }
        self.used.elapsed() < SESSION_LIFE
    }
}

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

    /// Checks that the user of an open transaction has still the rights of its commands before. Otherwise it ends: it may show, or have
    /// written, what the user may not see or write any more.
    fn check_rights(&mut self, now: Option<&Arc<UserRights>>) -> Result<()> {
        let (State::Open { rights, .. }, Some(now)) = (&mut self.state, now) else {
            return Ok(());
        };
        if rights.as_ref().is_some_and(|before| now.include(before)) {
            *rights = Some(now.clone());
            return Ok(());
        }
        self.state = State::Aborted;
        let message = format!(
            "transaction {} is aborted: rights that its user had were withdrawn",
            self.number
        );
        Err(CommandError::new(code::UNAUTHORIZED, message))
    }
}

/// Commits the transaction of a session that is taken.
async fn commit(
    mut of: OwnedMutexGuard<Transactions>,
    number: i64,
    part: Retryable,
    databases: Vec<Collections>,
) -> Result<()> {
    let mut failed = None;
    if of.number == number {
        match std::mem::replace(&mut of.state, State::Aborted) {
            State::Open { unit, .. } => match unit.commit_once(part.clone()).await {
                Ok(()) => {
                    of.state = State::Committed;
                    return Ok(());
                }
                Err(error) if error.is_retryable() => {
                    return Err(CommandError::from(error).in_transaction());
                }
                // It may have been stored all the same.
                Err(error) => failed = Some(CommandError::from(error).in_transaction()),
            },
            State::Committed => {
                of.state = State::Committed;
                return Ok(());
            }
            State::None | State::Aborted => {}
        }
    }
    // It may be a commit that is sent again, also to a server that has been started since.
    for collections in databases {
        if let Ok(Some(_)) = collections.done(&part).await {
            return Ok(());
        }
    }
    Err(failed.unwrap_or_else(|| no_transaction(number)))
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
        self.of.used = Some(Instant::now());
    }
}

impl Drop for TransactionUse {
    fn drop(&mut self) {
        if !self.is_kept {
            self.of.state = State::Aborted;
        }
    }
}

#[cfg(test)]
mod tests;
