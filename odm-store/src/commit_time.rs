//! The times of commits, which all stores of a process share.

use std::{
    fmt,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use bson::{DateTime, Timestamp};

/// The newest time that was given or seen.
static NEWEST: AtomicU64 = AtomicU64::new(0);

/// The times that were passed over since a later one was seen: after the first, up to the second.
static PASSED_OVER: Mutex<Option<(u64, u64)>> = Mutex::new(None);

/// The time of a commit: the seconds of the clock, and a number within the second, as in MongoDB's `Timestamp`.
///
/// All times of a process are different, and grow: also if its clock goes back. So the times of several stores order their commits.
///
/// ```
/// use odm_store::CommitTime;
///
/// let (first, second) = (CommitTime::next(), CommitTime::next());
/// assert!(first < second && second <= CommitTime::newest());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitTime(u64);

impl CommitTime {
    /// A new time, after all others of the process.
    pub fn next() -> CommitTime {
        let clock = clock();
        let after = |newest: u64| clock.max(newest).saturating_add(1);
        let newest = NEWEST.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |newest| {
            Some(after(newest))
        });
        CommitTime(after(newest.unwrap_or_default()))
    }

    /// The newest time: every later commit gets a later one.
    pub fn newest() -> CommitTime {
        let clock = clock();
        CommitTime(NEWEST.fetch_max(clock, Ordering::SeqCst).max(clock))
    }

    /// Lets later commits get later times than this one, which another process has given.
    pub fn advance(to: CommitTime) {
        let newest = NEWEST.fetch_max(to.0, Ordering::SeqCst);
        if newest < to.0 {
            let mut passed_over = PASSED_OVER.lock().unwrap_or_else(PoisonError::into_inner);
            let (first, last) = passed_over.unwrap_or((newest, to.0));
            *passed_over = Some((first.min(newest), last.max(to.0)));
        }
    }

    /// Whether it was passed over by [`advance`](CommitTime::advance), so that another process has given it, such as an earlier one with
    /// the same stores: later commits are not known.
    pub fn is_passed_over(self) -> bool {
        let passed_over = PASSED_OVER.lock().unwrap_or_else(PoisonError::into_inner);
        passed_over.is_some_and(|(first, last)| first < self.0 && self.0 <= last)
    }

    /// Lets later commits get times after the current second, and returns its end: no process with the same clock has given a later time,
    /// unless it has seen one.
    pub(crate) fn next_second() -> CommitTime {
        let next = clock().saturating_add(1 << 32);
        CommitTime(NEWEST.fetch_max(next, Ordering::SeqCst).max(next))
    }

    /// The last time before this one.
    #[must_use]
    pub fn before(self) -> CommitTime {
        CommitTime(self.0.saturating_sub(1))
    }

    /// The time as one number, in the order of times.
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// The time of such a number.
    pub fn from_bits(bits: u64) -> CommitTime {
        CommitTime(bits)
    }

    /// The seconds since 1970.
    pub fn seconds(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// The start of the current second.
fn clock() -> u64 {
    let seconds = DateTime::now().timestamp_millis() / 1000;
    u64::from(u32::try_from(seconds).unwrap_or(0)) << 32
}

impl From<CommitTime> for Timestamp {
    fn from(time: CommitTime) -> Self {
        Timestamp {
            time: time.seconds(),
            increment: time.0 as u32,
        }
    }
}

impl From<Timestamp> for CommitTime {
    fn from(time: Timestamp) -> Self {
        CommitTime(u64::from(time.time) << 32 | u64::from(time.increment))
    }
}

impl fmt::Debug for CommitTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CommitTime({}, {})", self.seconds(), self.0 as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_threads_are_different_and_grow_also_past_a_time_that_was_seen() {
        let run = || {
            let times: Vec<CommitTime> = (0..1000).map(|_| CommitTime::next()).collect();
            assert!(times.is_sorted());
            times
        };
        let mut all = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
            let all = threads
                .into_iter()
                .flat_map(|one| one.join().expect("no panic"));
            all.collect::<Vec<_>>()
        });
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 4000);
        let seen = CommitTime::from(Timestamp {
            time: CommitTime::newest().seconds() + 100,
            increment: 7,
        });
        let before = CommitTime::newest();
        CommitTime::advance(seen);
        let after = CommitTime::next();
        assert!(after > seen);
        assert!(seen.is_passed_over() && seen.before().is_passed_over());
        assert!(!before.is_passed_over() && !after.is_passed_over());
        assert_eq!(Timestamp::from(seen).increment, 7);
        assert_eq!(CommitTime::from_bits(seen.to_bits()), seen);
    }
}
