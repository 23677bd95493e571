//! Entries that others leave to a transaction for a short time, so that work that has lost several times gets done.
//!
//! A transaction loses if another one has changed entries that its caller has read, and others may do so each time. So a caller who has
//! lost [`TRIES`] times begins with a *reservation* of the entries on which it has lost: whoever would change one of them waits until the
//! transaction has ended, or for 50 ms. Nobody waits twice, and whoever has a reservation does not wait.

use std::{
    error::Error as StdError,
    fmt,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use odm_store::Error;
use tokio::sync::Notify;

use super::{layout::Tree, reads::ReadEntries, wait::end_of};

/// How often a caller loses before there is a reservation.
const TRIES: u32 = 3;

/// The cause of the error of a transaction that has lost.
#[derive(Debug)]
pub(super) struct LostReads {
    /// The entries that others have changed.
    entries: ReadEntries,
    /// How often the caller has lost.
    times: u32,
}

impl LostReads {
    /// The next loss of the caller who has begun after another one.
    pub(super) fn after(last: Option<&LostReads>, entries: ReadEntries) -> LostReads {
        LostReads {
            entries,
            times: last.map_or(0, |last| last.times) + 1,
        }
    }

    /// Returns that of an error.
    pub(super) fn of(error: &Error) -> Option<Arc<LostReads>> {
        let source = StdError::source(error)?.downcast_ref::<Lost>()?;
        Some(source.0.clone())
    }

    /// Whether the next try of the caller has a reservation.
    pub(super) fn is_reserved(&self) -> bool {
        self.times >= TRIES && !self.entries.trees.is_empty()
    }
}

/// An error with [`LostReads`].
#[derive(Debug)]
pub(super) struct Lost(pub(super) Arc<LostReads>);

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "conflict {} of this transaction", self.0.times)
    }
}

impl StdError for Lost {}

/// A reservation, until it is dropped.
pub(super) struct Reservation {
    /// Wakes the writer's thread.
    wake: Arc<Notify>,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.wake.notify_one();
    }
}

/// A reservation that somebody waits for.
#[derive(Clone)]
pub(super) struct Awaited {
    reservation: Weak<Reservation>,
    /// `None` if it does not wait.
    pub(super) until: Option<Instant>,
}

impl Awaited {
    pub(super) fn is_over(&self) -> bool {
        let is_late = self.until.is_none_or(|until| until <= Instant::now());
        is_late || self.reservation.strong_count() == 0
    }
}

/// The reservations of open transactions.
#[derive(Default)]
pub(super) struct Reservations(Vec<(Awaited, Arc<LostReads>)>);

impl Reservations {
    /// Reserves entries. Others wait for this time at most.
    pub(super) fn add(
        &mut self,
        lost: Arc<LostReads>,
        time: Duration,
        wake: Arc<Notify>,
    ) -> Arc<Reservation> {
        let reservation = Arc::new(Reservation { wake });
        let awaited = Awaited {
            reservation: Arc::downgrade(&reservation),
            until: end_of(time),
        };
        self.0.push((awaited, lost));
        reservation
    }

    pub(super) fn is_empty(&mut self) -> bool {
        self.0.retain(|(reservation, _)| !reservation.is_over());
        self.0.is_empty()
    }

    /// The reservation of one of some changed entries, if there is one.
    pub(super) fn of<'k>(
        &mut self,
        mut changed: impl Iterator<Item = (Tree, &'k [u8])>,
    ) -> Option<Awaited> {
        if self.is_empty() {
            return None;
        }
        changed.find_map(|(tree, key)| {
            let mut all = self.0.iter();
            let found = all.find(|(_, lost)| lost.entries.has(tree, key));
            found.map(|(reservation, _)| reservation.clone())
        })
    }
}
