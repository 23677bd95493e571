//! The commits of a whole store that are kept for its readers.

use std::{
    collections::VecDeque,
    fmt,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use bson::DateTime;
use tokio::sync::Notify;

use super::Feed;
use crate::{
    CollectionChange, CommitTime, DocumentChange,
    error::{Error, ErrorKind, Result},
};

/// How long a commit is kept, and how long commits are recorded after the last reader has gone.
const KEPT_FOR: Duration = Duration::from_secs(5 * 60);
/// The bytes of the documents in all commits that are kept, unless it is one larger commit.
pub(super) const KEPT_BYTES: usize = 64 << 20;
/// The bytes of a change besides its documents, about.
const CHANGE_BYTES: usize = 256;

/// A commit of a store, with its changes in the order in which the commit has made them.
#[derive(Debug)]
#[non_exhaustive]
pub struct StoreCommit {
    /// Its place among the commits of all stores of the process.
    pub time: CommitTime,
    /// When it was published, by the clock.
    pub at: DateTime,
    /// One change for each document, and the changes of whole collections.
    pub changes: Vec<CommittedChange>,
}

/// A change by a commit.
#[derive(Debug, Clone)]
pub enum CommittedChange {
    /// A document was inserted, changed or removed.
    Document {
        /// The name of its collection.
        collection: Arc<str>,
        /// The document before and after.
        change: DocumentChange,
    },
    /// A collection was removed or renamed, with its documents, of which no changes tell.
    Collection(CollectionChange),
    /// All collections were removed at once, by the changes before it: MongoDB's `dropDatabase`.
    DropAll,
}

impl CommittedChange {
    fn size(&self) -> usize {
        match self {
            CommittedChange::Document { change, .. } => change.size() + CHANGE_BYTES,
            CommittedChange::Collection(_) | CommittedChange::DropAll => CHANGE_BYTES,
        }
    }
}

/// The newest commits of a store.
pub(super) struct History {
    commits: VecDeque<KeptCommit>,
    /// The bytes of all of them.
    bytes: usize,
    /// All commits after this time are kept. `None` as long as no watch has begun.
    since: Option<CommitTime>,
    readers: usize,
    /// When the last reader has gone.
    ended: Instant,
    changed: Arc<Notify>,
}

struct KeptCommit {
    commit: Arc<StoreCommit>,
    published: Instant,
    bytes: usize,
}

impl History {
    pub(super) fn new() -> Self {
        History {
            commits: VecDeque::new(),
            bytes: 0,
            since: None,
            readers: 0,
            ended: Instant::now(),
            changed: Arc::default(),
        }
    }

    pub(super) fn changed(&self) -> Arc<Notify> {
        self.changed.clone()
    }

    /// Whether nobody reads it, and nobody can go on.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        let is_late = now.saturating_duration_since(self.ended) > KEPT_FOR;
        self.readers == 0 && (is_late || self.since.is_none())
    }

    pub(super) fn has_begun(&self) -> bool {
        self.since.is_some()
    }

    /// Keeps commits from now on, which are all commits after a time.
    pub(super) fn begin(&mut self, since: CommitTime) {
        self.since.get_or_insert(since);
    }

    pub(super) fn push(&mut self, time: CommitTime, changes: Vec<CommittedChange>, now: Instant) {
        if !self.has_begun() {
            return;
        }
        let bytes = changes.iter().map(CommittedChange::size).sum();
        self.bytes += bytes;
        self.commits.push_back(KeptCommit {
            commit: Arc::new(StoreCommit {
                time,
                at: DateTime::now(),
                changes,
            }),
            published: now,
            bytes,
        });
        self.trim(now);
    }

    /// Keeps commits after a time alone.
    pub(super) fn begin_anew(&mut self, since: CommitTime) {
        self.commits.clear();
        self.bytes = 0;
        self.since = Some(since);
    }

    /// Forgets commits that are too old or too many.
    pub(super) fn trim(&mut self, now: Instant) {
        while let Some(first) = self.commits.front() {
            let is_old = now.saturating_duration_since(first.published) > KEPT_FOR;
            let is_much = self.bytes > KEPT_BYTES && self.commits.len() > 1;
            if !is_old && !is_much {
                return;
            }
            self.bytes -= first.bytes;
            self.since = Some(first.commit.time);
            self.commits.pop_front();
        }
    }

    /// The first commit after a time.
    fn after(&self, time: CommitTime) -> Option<&Arc<StoreCommit>> {
        let at = self
            .commits
            .partition_point(|kept| kept.commit.time <= time);
        self.commits.get(at).map(|kept| &kept.commit)
    }

    fn check(&self, after: CommitTime) -> Result<()> {
        if self.since.is_some_and(|since| since <= after) {
            return Ok(());
        }
        let message = "watch of all collections cannot go on: commits after its place are not kept any more, or were never recorded; read \
                       the documents again, and watch anew";
        Err(Error::new(ErrorKind::Lagged, message))
    }
}

/// A watch of all collections of a store, until it is dropped, from [`Store::watch_commits`](crate::Store::watch_commits).
#[derive(Debug)]
pub struct CommitWatch {
    feed: Feed,
    /// All commits up to this time are read.
    after: CommitTime,
}

impl CommitWatch {
    /// Counts a reader, so that transactions record their changes from now on. Returns whether that is new.
    pub(super) fn enter(feed: &Feed) -> (Self, bool) {
        let is_new = feed.with(|state| {
            let history = state.history.get_or_insert_with(History::new);
            history.readers += 1;
            let is_new = !history.has_begun();
            feed.count(state);
            is_new
        });
        let after = CommitTime::newest();
        let feed = feed.clone();
        (CommitWatch { feed, after }, is_new)
    }

    /// Begins after a time, or now.
    pub(super) fn begin(&mut self, after: Option<CommitTime>) -> Result<()> {
        self.after = self.feed.with(|state| {
            if state.is_closed {
                return Err(closed());
            }
            let history = state.history.get_or_insert_with(History::new);
            // Under the lock, since a commit that is published before this is not recorded.
            history.begin(self.feed.unrecorded());
            let after = after.unwrap_or_else(CommitTime::newest);
            history.check(after)?;
            Ok(after)
        })?;
        // The first commit of the watch is later than the time that its caller may see as that of its begin.
        CommitTime::next();
        Ok(())
    }

    /// The time up to which all commits are read.
    pub fn time(&self) -> CommitTime {
        self.after
    }

    /// Tells the store from all others, and from itself once it is opened again.
    pub fn store(&self) -> u64 {
        self.feed.0.id
    }

    /// Takes the next commit. `None` if there is none up to a time, which must not be later than [`CommitTime::newest`].
    ///
    /// # Errors
    ///
    /// `Lagged` if commits that were not read are not kept any more, and `Closed` if the store is closed.
    pub fn take(&mut self, until: CommitTime) -> Result<Option<Arc<StoreCommit>>> {
        let after = self.after;
        let next = self.feed.with(|state| {
            let is_closed = state.is_closed;
            let history = state.history.get_or_insert_with(History::new);
            history.trim(Instant::now());
            history.check(after)?;
            match history.after(after) {
                Some(commit) => Ok(Some(commit.clone())),
                None if is_closed => Err(closed()),
                None => Ok(None),
            }
        })?;
        let next = next.filter(|commit| commit.time <= until);
        let read = next.as_ref().map_or(until, |commit| commit.time);
        self.after = after.max(read);
        Ok(next)
    }

    /// Waits until there is a next commit, or an error.
    pub async fn changed(&self) {
        loop {
            let changed = self.feed.with(|state| {
                let history = state.history.get_or_insert_with(History::new);
                history.changed()
            });
            // The registration precedes the look, so that no commit between the look and the wait is missed.
            let mut changed = pin!(changed.notified());
            changed.as_mut().enable();
            let is_there = self.feed.with(|state| {
                let history = state.history.as_ref();
                let has_next = |history: &History| {
                    history.check(self.after).is_err() || history.after(self.after).is_some()
                };
                state.is_closed || history.is_none_or(has_next)
            });
            if is_there {
                return;
            }
            changed.await;
        }
    }
}

impl Drop for CommitWatch {
    fn drop(&mut self) {
        self.feed.with(|state| {
            if let Some(history) = &mut state.history {
                history.readers = history.readers.saturating_sub(1);
                history.ended = Instant::now();
            }
            self.feed.end_history(state, Instant::now());
        });
    }
}

fn closed() -> Error {
    Error::new(ErrorKind::Closed, "the store is closed")
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("History")
            .field("commits", &self.commits.len())
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use bson::rawdoc;

    use super::*;
    use crate::Cause;

    fn change(bytes: usize) -> CommittedChange {
        let document = rawdoc! { "_id": 1, "text": "x".repeat(bytes) };
        CommittedChange::Document {
            collection: "things".into(),
            change: DocumentChange::new(None, Some(Arc::new(document)), Cause::Write),
        }
    }

    #[test]
    fn commits_are_kept_for_five_minutes_and_up_to_64_mib_and_a_commit_that_is_larger_alone() {
        let start = CommitTime::next();
        let mut history = History::new();
        let begun = Instant::now();
        history.push(CommitTime::next(), vec![change(1)], begun);
        assert!(history.commits.is_empty(), "no watch has begun");
        history.begin(start);
        let first = CommitTime::next();
        history.push(first, vec![change(10)], begun);
        assert!(history.check(start).is_ok() && history.check(start.before()).is_err());
        assert_eq!(history.after(start).expect("a commit").time, first);

        let later = begun.checked_add(KEPT_FOR + Duration::from_secs(1));
        let second = CommitTime::next();
        history.push(second, vec![change(10)], later.expect("a time"));
        assert_eq!(history.commits.len(), 1);
        assert!(history.check(start).is_err() && history.check(first).is_ok());

        for _ in 0..80 {
            history.push(
                CommitTime::next(),
                vec![change(1 << 20)],
                later.expect("a time"),
            );
            assert!(history.bytes <= KEPT_BYTES);
        }
        assert!(history.commits.len() > 60);
        let large = (0..70).map(|_| change(1 << 20)).collect();
        history.push(CommitTime::next(), large, later.expect("a time"));
        assert_eq!(history.commits.len(), 1);
    }
}
