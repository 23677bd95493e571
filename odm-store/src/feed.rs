//! The changes of watched documents, in the order of commits.

mod changes;
mod history;
mod kept;

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    task::Poll,
    time::Instant,
};

use async_trait::async_trait;
use futures_util::stream::{StreamExt, unfold};
use tokio::sync::Notify;

pub use self::{
    changes::FeedChanges,
    history::{CommitWatch, CommittedChange, StoreCommit},
};
use self::{history::History, kept::Kept};
use super::{
    CommitTime, DocumentChange, Durability, ResumeToken, Store, StoreWatch, Transaction,
    UnitOfWork, WatchRequest, WatchedChange,
};
use crate::error::{Error, ErrorKind, Result};

/// Passes the changes of a store's commits to the watches of its collections, in this process.
///
/// A store whose commits have an order, and which publishes in that order, can have a feed, shared by all its handles. It gives each
/// transaction the [`FeedChanges`] of [`begin`](Feed::begin), in which the library records the watched changes, asks at the commit whether
/// they are [complete](FeedChanges::is_complete), [publishes](FeedChanges::publish) them, and answers [`Store::watch`] by
/// [`watch`](Feed::watch). A clone is the same feed.
///
/// The library records only the changes of collections that are watched at the time of the write. So a transaction that began before a
/// watch may lack changes that the watch has to show: it runs again.
#[derive(Clone, Default)]
pub struct Feed(Arc<FeedInner>);

struct FeedInner {
    /// Tells the tokens of this feed from the tokens of other feeds, such as an earlier one of the same file.
    id: u64,
    /// The number of collections whose commits are kept, and one more if the commits of all are, so that the lock is not taken while it is
    /// zero.
    watched: AtomicUsize,
    /// Whether the commits of all collections are kept.
    has_history: AtomicBool,
    /// The time of the last commit that no history has recorded, or else that of the begin.
    unrecorded: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    collections: BTreeMap<String, Kept>,
    /// The commits in all collections, if somebody watches all.
    history: Option<History>,
    next: u64,
    is_closed: bool,
}

/// The changes of one commit in a collection: one for each document.
type WatchedCommit = Arc<[DocumentChange]>;

/// The next commit of a watch, with the number of its [`Kept`] and its own, or the number of missed commits.
type NextCommit = Result<(u64, u64, WatchedCommit), u64>;

/// A place in the changes of a collection.
#[derive(Debug, Clone)]
struct Place {
    /// The number of [`Kept`].
    kept: u64,
    commit: u64,
    /// How many changes of the commit come before the place.
    shown: usize,
}

impl Default for FeedInner {
    fn default() -> Self {
        FeedInner {
            id: fastrand::u64(..),
            watched: AtomicUsize::new(0),
            has_history: AtomicBool::new(false),
            // Another process may have written to the store in this second.
            unrecorded: AtomicU64::new(CommitTime::next_second().to_bits()),
            state: Mutex::default(),
        }
    }
}

impl Feed {
    /// Begins the changes of a transaction.
    pub fn begin(&self) -> FeedChanges {
        FeedChanges::new(self.clone())
    }

    /// Ends all watches, and refuses new ones. A store MUST call it when it is closed.
    pub fn close(&self) {
        let changed: Vec<Arc<Notify>> = self.with(|state| {
            state.is_closed = true;
            let kept = state.collections.values().map(Kept::changed);
            kept.chain(state.history.as_ref().map(History::changed))
                .collect()
        });
        // It wakes readers, which must not happen under the lock.
        for changed in changed {
            changed.notify_waiters();
        }
    }

    /// Watches a collection of the feed's store. To begin, it runs an empty unit in the store.
    ///
    /// When [`Store::run`] has run that unit, the store MUST have published every commit that did not know of the watch: each transaction
    /// whose changes it has found complete before, and, on a store without outer writes, each that had begun before.
    ///
    /// # Errors
    ///
    /// The errors of [`Store::watch`], and of the unit.
    pub async fn watch(
        &self,
        store: &(impl Store + ?Sized),
        request: &WatchRequest,
    ) -> Result<StoreWatch> {
        let mut reader = self.reader(&request.collection, request.buffer);
        // What is committed before this turn does not count as a change. What is committed after it has recorded all its changes.
        store.run(Arc::new(Turn), Durability::Eventual).await?;
        let token = reader.begin(request.after.as_ref())?;
        let changes = unfold(reader, |mut reader| async {
            Some((reader.next().await?, reader))
        });
        Ok(StoreWatch::new(token, changes.fuse().boxed()))
    }

    /// Watches all collections of the feed's store, as [`watch`](Feed::watch) does one.
    ///
    /// From the first such watch on, the commits of the last five minutes are kept in memory, up to 64 MiB of documents. It ends five
    /// minutes after the last watch. A commit that has more than 64 MiB of documents alone is not kept: all watches have missed it.
    ///
    /// # Errors
    ///
    /// The errors of [`Store::watch_commits`], and of the unit.
    pub async fn watch_commits(
        &self,
        store: &(impl Store + ?Sized),
        after: Option<CommitTime>,
    ) -> Result<CommitWatch> {
        let (mut watch, is_new) = CommitWatch::enter(self);
        if is_new {
            store.run(Arc::new(Turn), Durability::Eventual).await?;
        }
        watch.begin(after)?;
        Ok(watch)
    }

    fn with<T>(&self, run: impl FnOnce(&mut State) -> T) -> T {
        run(&mut self.0.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Has transactions record their changes of a collection from now on.
    #[doc(hidden)]
    pub fn reader(&self, collection: &str, buffer: usize) -> FeedReader {
        let number = self.with(|state| {
            state.next += 1;
            let number = state.next;
            let kept = state.collections.entry(collection.to_owned());
            let kept = kept.or_insert_with(|| Kept::new(number));
            kept.add(number, buffer);
            self.count(state);
            number
        });
        FeedReader {
            feed: self.clone(),
            collection: collection.to_owned(),
            number,
            skipped: 0,
            taken: VecDeque::new(),
        }
    }

    fn count(&self, state: &State) {
        let watched = state.collections.len() + usize::from(state.history.is_some());
        self.0.watched.store(watched, Ordering::Relaxed);
        let has_history = state.history.is_some();
        self.0.has_history.store(has_history, Ordering::Relaxed);
    }

    /// The time after which no commit is unrecorded, if a history begins now.
    fn unrecorded(&self) -> CommitTime {
        CommitTime::from_bits(self.0.unrecorded.load(Ordering::SeqCst))
    }

    /// Forgets the commits of all collections, if nobody can read them any more.
    fn end_history(&self, state: &mut State, now: Instant) {
        let history = state.history.as_ref();
        if history.is_some_and(|history| history.is_over(now)) {
            state.history = None;
            let newest = CommitTime::newest().to_bits();
            self.0.unrecorded.fetch_max(newest, Ordering::SeqCst);
            self.count(state);
        }
    }

    fn is_watched(&self, collection: &str) -> bool {
        // The turn with which a watch begins is in the order of commits, so that the check of a later commit sees the number.
        self.0.watched.load(Ordering::Relaxed) > 0
            && self.with(|state| {
                let kept = state.collections.get(collection);
                let now = Instant::now();
                if kept.is_some_and(|kept| kept.is_over(now)) {
                    state.collections.remove(collection);
                    self.count(state);
                }
                self.end_history(state, now);
                state.history.is_some() || state.collections.contains_key(collection)
            })
    }

    /// Whether somebody watches a collection alone.
    fn is_watched_alone(&self, collection: &str) -> bool {
        self.with(|state| state.collections.contains_key(collection))
    }

    fn send(&self, collection: &str, commit: WatchedCommit) {
        let changed = self.with(|state| {
            let kept = state.collections.get_mut(collection)?;
            kept.push(commit);
            Some(kept.changed())
        });
        if let Some(changed) = changed {
            changed.notify_waiters();
        }
    }

    /// Whether the commits of all collections are kept. It knows of the watches that the [check](FeedChanges::is_complete) of the commit
    /// has known of.
    fn has_history(&self) -> bool {
        self.0.has_history.load(Ordering::Relaxed)
    }

    /// Forgets the commits that no watch of all collections can read any more, as each later commit does too.
    pub fn forget_commits(&self) {
        self.forget_commits_at(Instant::now());
    }

    fn forget_commits_at(&self, now: Instant) {
        if !self.has_history() {
            return;
        }
        self.with(|state| {
            self.end_history(state, now);
            if let Some(history) = &mut state.history {
                history.trim(now);
            }
        });
    }

    /// Passes a commit to the watches of all collections. Those of one without changes, of which there were too many, have missed it.
    fn send_all(&self, changes: Option<Vec<CommittedChange>>) {
        if !self.has_history() {
            // It knows of no watch, so that it is published before the turn of one.
            let time = CommitTime::next().to_bits();
            self.0.unrecorded.fetch_max(time, Ordering::SeqCst);
            return;
        }
        let changed = self.with(|state| {
            // Under the lock, so that the times of commits are in their order for each reader.
            let time = CommitTime::next();
            match (&mut state.history, changes) {
                (Some(history), Some(changes)) if history.has_begun() => {
                    if changes.is_empty() {
                        return None;
                    }
                    history.push(time, changes, Instant::now());
                    Some(history.changed())
                }
                (Some(history), None) if history.has_begun() => {
                    history.begin_anew(time);
                    Some(history.changed())
                }
                _ => {
                    let unrecorded = &self.0.unrecorded;
                    unrecorded.fetch_max(time.to_bits(), Ordering::SeqCst);
                    None
                }
            }
        });
        if let Some(changed) = changed {
            changed.notify_waiters();
        }
    }

    fn token(&self, place: &Place) -> ResumeToken {
        let Place {
            kept,
            commit,
            shown,
        } = place;
        ResumeToken::from(format!("{:016x}-{kept}-{commit}-{shown}", self.0.id))
    }

    /// The place of a token. `None` if the token belongs to another feed.
    fn place(&self, token: &ResumeToken, collection: &str) -> Result<Option<Place>> {
        let parts: Vec<&str> = token.as_str().split('-').collect();
        let place = match parts[..] {
            [id, kept, commit, shown] if id.len() == 16 => (|| {
                let place = Place {
                    kept: kept.parse().ok()?,
                    commit: commit.parse().ok()?,
                    shown: shown.parse().ok()?,
                };
                Some((u64::from_str_radix(id, 16).ok()?, place))
            })(),
            _ => None,
        };
        let (id, place) = place.ok_or_else(|| token.invalid(collection))?;
        Ok((id == self.0.id).then_some(place))
    }
}

impl fmt::Debug for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed")
            .field("watched", &self.0.watched.load(Ordering::Relaxed))
            .finish_non_exhaustive()
    }
}

/// An empty unit, which waits for its turn.
struct Turn;

#[async_trait]
impl UnitOfWork for Turn {
    async fn run(&self, _: &mut dyn Transaction) -> Result<()> {
        Ok(())
    }
}

/// A watch of a collection, until it is dropped.
#[doc(hidden)]
#[derive(Debug)]
pub struct FeedReader {
    feed: Feed,
    collection: String,
    number: u64,
    /// How many changes of the first commit come before the place at which the watch has begun.
    skipped: usize,
    /// The changes of the last commit that are not shown yet.
    taken: VecDeque<WatchedChange>,
}

impl FeedReader {
    /// Receives the commits from now on, or after a token.
    #[doc(hidden)]
    pub fn begin(&mut self, after: Option<&ResumeToken>) -> Result<ResumeToken> {
        let collection = &self.collection;
        let after = match after {
            None => None,
            Some(token) => match self.feed.place(token, collection)? {
                None => {
                    let why =
                        "it was made before the store was opened, and changes are kept in memory";
                    return Err(ResumeToken::too_old(collection, why));
                }
                place => place,
            },
        };
        let place = self.feed.with(|state| {
            if state.is_closed {
                return Err(Error::new(ErrorKind::Closed, "the store is closed"));
            }
            let kept = state.collections.get_mut(collection);
            let begun = kept.and_then(|kept| kept.begin(self.number, after.as_ref()));
            begun.ok_or_else(|| {
                let why = "the changes since then are not kept any more";
                ResumeToken::too_old(collection, why)
            })
        })?;
        self.skipped = place.shown;
        Ok(self.feed.token(&place))
    }

    /// The next change, or an error in the place of missed changes. `None` if the store is closed.
    #[doc(hidden)]
    pub async fn next(&mut self) -> Option<Result<WatchedChange>> {
        loop {
            if let Some(change) = self.taken.pop_front() {
                return Some(Ok(change));
            }
            let skipped = std::mem::take(&mut self.skipped);
            match self.commit().await? {
                Ok((kept, number, commit)) => {
                    self.show(kept, number, &commit);
                    self.taken.drain(..skipped.min(commit.len()));
                }
                Err(missed) => {
                    let message = format!(
                        "watch of `{}` fell behind: it has missed {missed} commits, and goes on with the oldest one that is \
                         kept; read faster, or raise `buffer`",
                        self.collection
                    );
                    let error = Error::new(ErrorKind::Lagged, message);
                    return Some(Err(error.at(&self.collection, None, None)));
                }
            }
        }
    }

    fn show(&mut self, kept: u64, number: u64, commit: &WatchedCommit) {
        for (at, change) in commit.iter().enumerate() {
            let (commit, shown) = if at + 1 == commit.len() {
                (number + 1, 0)
            } else {
                (number, at + 1)
            };
            let token = self.feed.token(&Place {
                kept,
                commit,
                shown,
            });
            self.taken
                .push_back(WatchedChange::new(Some(change.clone()), token));
        }
    }

    /// `None` if the store is closed.
    async fn commit(&mut self) -> Option<NextCommit> {
        loop {
            let changed = self.feed.with(|state| {
                let kept = state.collections.get(&self.collection)?;
                Some(kept.changed())
            })?;
            // The registration precedes the poll, so that no commit between the poll and the wait is missed.
            let mut changed = pin!(changed.notified());
            changed.as_mut().enable();
            if let Poll::Ready(found) = self.poll() {
                return found;
            }
            changed.await;
        }
    }

    /// The same, if it is known.
    #[doc(hidden)]
    pub fn poll(&self) -> Poll<Option<NextCommit>> {
        self.feed.with(|state| {
            let Some(kept) = state.collections.get_mut(&self.collection) else {
                return Poll::Ready(None);
            };
            match kept.take(self.number) {
                Poll::Ready(Ok((number, commit))) => {
                    Poll::Ready(Some(Ok((kept.number(), number, commit))))
                }
                Poll::Ready(Err(missed)) => Poll::Ready(Some(Err(missed))),
                Poll::Pending if state.is_closed => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            }
        })
    }
}

impl Drop for FeedReader {
    fn drop(&mut self) {
        self.feed.with(|state| {
            if let Some(kept) = state.collections.get_mut(&self.collection) {
                kept.remove(self.number);
                if kept.is_over(Instant::now()) {
                    state.collections.remove(&self.collection);
                    self.feed.count(state);
                }
            }
        });
    }
}
