//! The changes of watched documents, in the order of commits.

mod history;
mod kept;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    fmt,
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    task::Poll,
    time::Instant,
};

use async_trait::async_trait;
use futures_util::stream::{StreamExt, unfold};
use odm_mql::key;
use tokio::sync::Notify;

pub use self::history::{CommitWatch, CommittedChange, StoreCommit};
use self::{history::History, kept::Kept};
use super::{
    Cause, CollectionChange, CommitTime, DocumentChange, Durability, ResumeToken, Store,
    StoreWatch, Transaction, UnitOfWork, WatchRequest, WatchedChange,
};
use crate::error::{Error, ErrorKind, Result};

/// Passes the changes of a store's commits to the watches of its collections, in this process.
///
/// A store whose commits have an order, and which publishes in that order, can have a feed, shared by all its handles. It gives each
/// transaction the [`FeedChanges`] of [`begin`](Feed::begin), in which the library records the watched changes, asks at the commit whether
/// they are [complete](FeedChanges::is_complete), [publishes](FeedChanges::publish) them, and answers [`Store::watch`] by
/// [`watch`](Feed::watch). A clone is the same feed.
///
/// The library records only what is watched at the time of the write. So a transaction that began before a watch may lack changes that the
/// watch has to show: it runs again.
#[derive(Clone, Default)]
pub struct Feed(Arc<FeedInner>);

struct FeedInner {
    /// Tells the tokens of this feed from the tokens of other feeds, such as an earlier one of the same file.
    id: u64,
    /// The number of collections whose commits are kept, and one more if those of all are, so that the lock is not taken while it is zero.
    watched: AtomicUsize,
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
            unrecorded: AtomicU64::new(CommitTime::newest().to_bits()),
            state: Mutex::default(),
        }
    }
}

impl Feed {
    /// Begins the changes of a transaction.
    pub fn begin(&self) -> FeedChanges {
        FeedChanges {
            feed: self.clone(),
            collections: BTreeMap::new(),
            whole: Vec::new(),
            recorded: 0,
            unrecorded: BTreeSet::new(),
        }
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
    /// From the first such watch on the commits are kept in memory: those of the last five minutes, up to 64 MiB of documents. It ends five
    /// minutes after the last watch.
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
    }

    /// The time after which no commit is unrecorded, if a history begins now.
    fn unrecorded(&self) -> CommitTime {
        CommitTime::from_bits(self.0.unrecorded.load(Ordering::SeqCst))
    }

    /// Forgets the commits of all collections, if nobody can read them any more.
    fn end_history(&self, state: &mut State) {
        let history = state.history.as_ref();
        if history.is_some_and(|history| history.is_over(Instant::now())) {
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
                if kept.is_some_and(|kept| kept.is_over(Instant::now())) {
                    state.collections.remove(collection);
                    self.count(state);
                }
                self.end_history(state);
                state.history.is_some() || state.collections.contains_key(collection)
            })
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

    /// Passes a commit to the watches of all collections.
    fn send_all(&self, changes: Vec<CommittedChange>) {
        if self.0.watched.load(Ordering::Relaxed) == 0 {
            // It knows of no watch, so that it is published before the turn of one.
            let time = CommitTime::next().to_bits();
            self.0.unrecorded.fetch_max(time, Ordering::SeqCst);
            return;
        }
        let changed = self.with(|state| {
            // Under the lock, so that the times of commits are in their order for each reader.
            let time = CommitTime::next();
            match &mut state.history {
                Some(history) if history.has_begun() => {
                    if changes.is_empty() {
                        return None;
                    }
                    history.push(time, changes, Instant::now());
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

/// The changes of a transaction in watched collections.
///
/// A store with [outer writes](super::Capabilities::outer_writes) MUST ask whether they are [complete](FeedChanges::is_complete) once the
/// place of the transaction in the order of commits is fixed, and before anything of it is stored or visible. If they are not, the
/// transaction has lost a conflict: its commit MUST fail with a [retryable](Error::is_retryable) error, and a unit of work is run again. On
/// another store a watch waits for the open transaction.
///
/// A store MUST [publish](FeedChanges::publish) them after the commit is visible and as durable as requested and before the call that
/// commits returns, in the order of commits. It MUST drop them if the transaction, or the run of the unit of work, is rolled back.
#[derive(Debug)]
pub struct FeedChanges {
    feed: Feed,
    collections: BTreeMap<String, CollectionChanges>,
    /// The changes of whole collections, each with its place among all changes.
    whole: Vec<(usize, CollectionChange)>,
    /// The number of changes so far.
    recorded: usize,
    /// The collections that nobody watched when the transaction wrote to them.
    unrecorded: BTreeSet<String>,
}

#[derive(Debug, Default)]
struct CollectionChanges {
    all: Vec<RecordedChange>,
    /// The position of each document by the key of its `_id`.
    positions: HashMap<Vec<u8>, usize>,
}

#[derive(Debug)]
struct RecordedChange {
    /// Its place among all changes of the transaction.
    place: usize,
    change: DocumentChange,
    is_cold_changed: bool,
}

impl FeedChanges {
    /// Passes the changes to the watches.
    pub fn publish(self) {
        if self.recorded == 0 && self.unrecorded.is_empty() {
            return;
        }
        let mut all: Vec<(usize, CommittedChange)> = Vec::new();
        for (collection, changes) in self.collections {
            let name: Arc<str> = collection.as_str().into();
            let changes = changes.all.into_iter();
            let changes = changes.filter(|one| one.is_cold_changed || one.change.is_different());
            let mut commit = Vec::new();
            for RecordedChange { place, change, .. } in changes {
                commit.push(change.clone());
                let collection = name.clone();
                all.push((place, CommittedChange::Document { collection, change }));
            }
            if !commit.is_empty() {
                self.feed.send(&collection, commit.into());
            }
        }
        let whole = self.whole.into_iter();
        all.extend(whole.map(|(place, change)| (place, CommittedChange::Collection(change))));
        all.sort_by_key(|(place, _)| *place);
        let all = all.into_iter().map(|(_, change)| change);
        self.feed.send_all(all.collect());
    }

    /// Whether they have all changes of the collections that are watched now: no watch has begun after a write of the transaction to its
    /// collection.
    pub fn is_complete(&self) -> bool {
        let mut unrecorded = self.unrecorded.iter();
        !unrecorded.any(|collection| self.feed.is_watched(collection))
    }

    /// Takes the recorded changes, and leaves an empty record.
    pub fn take(&mut self) -> FeedChanges {
        let empty = self.feed.begin();
        std::mem::replace(self, empty)
    }

    /// Whether somebody watches a collection that the transaction is about to write to, so that it records its changes.
    #[doc(hidden)]
    pub fn is_watched(&mut self, collection: &str) -> bool {
        let is_watched = self.feed.is_watched(collection);
        if !is_watched && !self.unrecorded.contains(collection) {
            self.unrecorded.insert(collection.to_owned());
        }
        is_watched
    }

    /// Records a change of a whole collection.
    #[doc(hidden)]
    pub fn add_whole(&mut self, change: CollectionChange) {
        self.whole.push((self.recorded, change));
        self.recorded += 1;
    }

    /// Records a change of a document, after its recorded changes.
    #[doc(hidden)]
    pub fn add(&mut self, collection: &str, change: DocumentChange, is_cold_changed: bool) {
        let key = key::of(change.id());
        let changes = self.collections.entry(collection.to_owned());
        let changes = changes.or_default();
        if let Some(&at) = changes.positions.get(&key) {
            let recorded = &mut changes.all[at];
            recorded.change.after = change.after;
            recorded.is_cold_changed |= is_cold_changed;
            if change.cause == Cause::Write {
                recorded.change.cause = Cause::Write;
            }
            return;
        }
        changes.positions.insert(key, changes.all.len());
        let place = self.recorded;
        self.recorded += 1;
        changes.all.push(RecordedChange {
            place,
            change,
            is_cold_changed,
        });
    }
}
