//! The state that the writer and the caller of an open transaction share.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use odm_store::{Error, ErrorKind};

/// The state of a lease.
pub(super) struct LeaseState(Mutex<LeaseUse>);

struct LeaseUse {
    calls: u32,
    /// The end of the last call, or the begin of the lease.
    last_call: Instant,
    /// Why the writer has ended the lease.
    expiry: Option<Expiry>,
}

/// How a transaction used its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expiry {
    Slow,
    /// Other writes waited, and it made no call in the last half of this limit.
    Idle(Duration),
}

impl LeaseState {
    pub(super) fn new() -> Arc<LeaseState> {
        Arc::new(LeaseState(Mutex::new(LeaseUse {
            calls: 0,
            last_call: Instant::now(),
            expiry: None,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, LeaseUse> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins the time of the lease, which has waited for its turn.
    pub(super) fn begin(&self) {
        self.lock().last_call = Instant::now();
    }

    /// Begins a call of the transaction.
    pub(super) fn begin_call(self: &Arc<Self>) -> CallInProgress {
        self.lock().calls += 1;
        CallInProgress(self.clone())
    }

    /// Ends the lease after this limit.
    pub(super) fn expire(&self, limit: Duration, others_wait: bool) -> Expiry {
        let mut state = self.lock();
        let is_idle = state.calls == 0 && state.last_call.elapsed() >= limit / 2;
        let expiry = match others_wait && is_idle {
            true => Expiry::Idle(limit),
            false => Expiry::Slow,
        };
        state.expiry = Some(expiry);
        expiry
    }

    /// The error of a transaction whose lease has ended.
    pub(super) fn error(&self) -> Error {
        match self.lock().expiry {
            Some(Expiry::Slow) => Error::new(
                ErrorKind::TransactionExpired,
                "transaction expired: it was open for too long and was rolled back; do less in it, or raise \
                 `transaction_limit`",
            ),
            Some(Expiry::Idle(limit)) => Error::new(
                ErrorKind::TransactionExpired,
                format!(
                    "transaction expired: it was open for {limit:?} and was rolled back; it did nothing \
                     in the last half of that while other writes waited for it, so it may await a write \
                     made outside of it, as in a spawned task; write through the database that the \
                     closure receives"
                ),
            )
            .not_retryable(),
            None => Error::new(
                ErrorKind::Closed,
                "transaction rolled back: the store was closed",
            ),
        }
    }
}

/// A call that a transaction has begun, until it is dropped.
pub(super) struct CallInProgress(Arc<LeaseState>);

impl Drop for CallInProgress {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.calls -= 1;
        state.last_call = Instant::now();
    }
}
