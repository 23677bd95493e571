//! Transactions: guards, and closures that are retried.

use std::{fmt, ops::Deref, sync::Arc, time::Instant};

use odm_store::{Error, ErrorKind, RETRIED_FOR, Result, metrics};

use super::Database;
use crate::{
    backoff::Backoff,
    session::{AbortOnDrop, Bound, Session, Turn, run_inside},
};

/// How many times a closure that runs out of time is run.
const ATTEMPTS: usize = 5;

/// A transaction that the caller drives, from [`Database::begin`].
///
/// It derefs to the database, with repositories that are bound to the transaction. Dropping it rolls
/// back.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let unit = shop.begin().await?;
/// unit.parts.delete(3).await?;
/// drop(unit); // an early return by `?` does the same
/// assert!(shop.parts.get(3).await.is_ok());
/// # Ok(()) });
/// ```
#[must_use = "a transaction is rolled back when its guard is dropped"]
pub struct TransactionGuard<D> {
    database: D,
    bound: Arc<Bound>,
}

impl<D: Database> TransactionGuard<D> {
    pub(super) async fn new(database: &D, lost: Option<Error>) -> Result<Self> {
        let (session, bound) = database.session().begin_after(lost).await?;
        let database = D::bind(&session);
        Ok(TransactionGuard { database, bound })
    }

    /// Makes the writes visible, and durable according to [`Database::durability`].
    ///
    /// If the future is dropped, the writes may or may not be stored.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let unit = shop.begin().await?;
    /// unit.parts.update(1).inc(Part::fields().qty, 10).await?;
    /// assert_eq!(unit.parts.get(1).await?.qty, 100);
    /// unit.commit().await?;
    /// assert_eq!(shop.parts.get(1).await?.qty, 100);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `TransactionAborted` if a write in it had failed, or, as an error that is [retryable](Error::is_retryable), if it has lost a conflict to
    /// another transaction: begin again then, as [`transaction`](Database::transaction) does by itself. `TransactionExpired` if it ran into the
    /// time limit. Nothing is stored then. `Unavailable` if the server of the store has not confirmed the commit: unless
    /// the error is [retryable](Error::is_retryable), the writes may be stored or not.
    pub async fn commit(self) -> Result<()> {
        self.bound.commit().await
    }

    /// Rolls back the writes.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let unit = shop.begin().await?;
    /// unit.parts.update(1).inc(Part::fields().qty, 10).await?;
    /// unit.rollback().await?;
    /// assert_eq!(shop.parts.get(1).await?.qty, 90);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The error of the disk, if commits that the transaction has read were lost, and never became durable. A transaction that has run out
    /// of time was rolled back then, and this returns at once.
    pub async fn rollback(self) -> Result<()> {
        self.bound.rollback().await
    }
}

impl<D> Deref for TransactionGuard<D> {
    type Target = D;

    fn deref(&self) -> &D {
        &self.database
    }
}

impl<D> fmt::Debug for TransactionGuard<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransactionGuard").finish_non_exhaustive()
    }
}

impl<D> Drop for TransactionGuard<D> {
    fn drop(&mut self) {
        self.bound.abandon();
    }
}

pub(super) async fn run<D, T, E, F>(database: &D, run: F) -> Result<T, E>
where
    D: Database,
    E: From<Error>,
    F: AsyncFnOnce(D) -> Result<T, E> + Repeatable,
{
    if let Some(outer) = database.session().bound() {
        // Part of the transaction around it: if it fails, its earlier writes must not be committed.
        let mut aborting = AbortOnDrop::new(outer, inner_failed());
        let result = run(database.clone()).await;
        if result.is_ok() {
            aborting.disarm();
        }
        return result;
    }
    let mut again = Again::new();
    let mut lost = None;
    loop {
        let guard = TransactionGuard::new(database, lost).await?;
        let bound = guard.bound.clone();
        let store = database.session().store();
        let result = run_inside(store, run.clone()(guard.database.clone())).await;
        let failure = match result {
            Ok(value) => match guard.commit().await {
                Ok(()) => return Ok(value),
                Err(error) if again.is_due(&error) => error,
                Err(error) => return Err(error.into()),
            },
            // The transaction decides whether to run again, since the closure may have returned an error of its own.
            Err(error) => {
                guard.rollback().await?;
                match bound.failure().filter(|failure| again.is_due(failure)) {
                    Some(failure) => failure,
                    None => return Err(error),
                }
            }
        };
        again.wait(&failure, database.session()).await;
        lost = Some(failure);
    }
}

/// Decides when a closure is run again.
struct Again {
    begin: Instant,
    attempts: usize,
    backoff: Backoff,
    turn: Option<Turn>,
}

impl Again {
    fn new() -> Self {
        Again {
            begin: Instant::now(),
            attempts: 1,
            backoff: Backoff::default(),
            turn: None,
        }
    }

    fn is_due(&self, failure: &Error) -> bool {
        match failure.is_conflict() {
            true => self.begin.elapsed() < RETRIED_FOR,
            // If a server cannot be reached, the store has waited already.
            false => {
                failure.is_retryable()
                    && failure.kind() != ErrorKind::Unavailable
                    && self.attempts < ATTEMPTS
            }
        }
    }

    async fn wait(&mut self, failure: &Error, session: &Session) {
        metrics::transaction_retry(session.database());
        self.attempts += 1;
        if !failure.is_conflict() {
            return;
        }
        if self.turn.is_none() {
            self.turn = session.turn().await;
            if self.turn.is_some() {
                return;
            }
        }
        self.backoff.wait().await;
    }
}

fn inner_failed() -> Error {
    Error::new(
        ErrorKind::TransactionAborted,
        "transaction aborted: a transaction inside it failed, or its future was dropped",
    )
}

/// A closure that can run several times, each time from the same start, by being `Clone`.
#[diagnostic::on_unimplemented(
    message = "the closure of a transaction may run again, and cannot change or use up what is around it",
    label = "changes or uses up what it captures",
    note = "return the value from the closure instead of changing a variable around it; of a value that each \
            run uses up, make a clone in the closure"
)]
pub trait Repeatable: Clone {}

#[diagnostic::do_not_recommend]
impl<F: Clone> Repeatable for F {}
