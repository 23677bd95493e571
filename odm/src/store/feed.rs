//! The changes of documents that somebody watches, in the order of commits.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use bson::{RawBsonRef, RawDocumentBuf};
use tokio::sync::broadcast;

use crate::{
    error::{Error, ErrorKind, Result},
    mql::{key, path},
};

/// Passes the changes of a store's commits to those who watch its collections, in this process.
///
/// A store that runs transactions one after another can have one, which all its handles share. It gives each
/// transaction the [`Changes`] of [`begin`](Feed::begin), into which the library records what is watched, and
/// [publishes](Changes::publish) them with the commit. A clone is the same feed.
#[derive(Clone, Default)]
pub struct Feed(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// The number of watches, so that nobody takes the lock while there is none.
    watches: AtomicUsize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The watches by collection, of each its number and, once it has begun, where its commits go.
    collections: BTreeMap<String, Vec<(u64, Option<Sender>)>>,
    next: u64,
    is_closed: bool,
}

type Sender = broadcast::Sender<WatchedCommit>;

/// The changes of one commit in a collection: one for each document.
pub(crate) type WatchedCommit = Arc<[DocumentChange]>;

/// What a commit made of a document.
#[derive(Debug, Clone)]
pub(crate) struct DocumentChange {
    /// `None` if the commit inserted it.
    pub(crate) before: Option<Arc<RawDocumentBuf>>,
    /// `None` if the commit removed it.
    pub(crate) after: Option<Arc<RawDocumentBuf>>,
    pub(crate) cause: Cause,
}

/// Why a document has changed.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::store::Cause;
///
/// let mut changes = shop.products.watch(Filter::all()).await?;
/// shop.reviews.delete(4).await?;
/// let change = changes.try_next().await?.expect("the store is open");
/// assert_eq!(change.cause, Cause::Relation); // the list of reviews has followed
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A write named the document, or its filter matched it.
    Write,
    /// It follows from a write of another document, or from a backfill or a repair: a delete rule, an inverse
    /// reference, a derived field.
    Relation,
}

impl Feed {
    /// Begins the changes of a transaction.
    pub fn begin(&self) -> Changes {
        Changes {
            feed: self.clone(),
            collections: BTreeMap::new(),
        }
    }

    /// Ends all watches, and refuses new ones. A store MUST call it when it is closed.
    pub fn close(&self) {
        // The drop of a sender wakes its reader, which must not happen under the lock.
        let ended: Vec<_> = self.with(|state| {
            state.is_closed = true;
            let watches = state.collections.values_mut().flatten();
            watches.map(|(_, sender)| sender.take()).collect()
        });
        drop(ended);
    }

    fn with<T>(&self, run: impl FnOnce(&mut State) -> T) -> T {
        run(&mut self.0.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Has transactions that begin from now on record their changes of a collection.
    pub(crate) fn watch(&self, collection: &str) -> Watch {
        let number = self.with(|state| {
            state.next += 1;
            let watches = state.collections.entry(collection.to_owned());
            watches.or_default().push((state.next, None));
            state.next
        });
        self.0.watches.fetch_add(1, Ordering::Relaxed);
        Watch {
            feed: self.clone(),
            collection: collection.to_owned(),
            number,
        }
    }

    fn is_watched(&self, collection: &str) -> bool {
        // A transaction that begins after a watch was made is told so by the queue of the writer, which orders
        // the two.
        self.0.watches.load(Ordering::Relaxed) > 0
            && self.with(|state| state.collections.contains_key(collection))
    }

    fn send(&self, collection: &str, commit: WatchedCommit) {
        let senders: Vec<_> = self.with(|state| {
            let watches = state.collections.get(collection).into_iter().flatten();
            watches.filter_map(|(_, sender)| sender.clone()).collect()
        });
        for sender in senders {
            // One whose reader has just gone away has no use for it.
            let _ = sender.send(commit.clone());
        }
    }
}

impl fmt::Debug for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed")
            .field("watches", &self.0.watches.load(Ordering::Relaxed))
            .finish_non_exhaustive()
    }
}

/// A watch of a collection, until it is dropped.
#[derive(Debug)]
pub(crate) struct Watch {
    feed: Feed,
    collection: String,
    number: u64,
}

impl Watch {
    /// Receives the commits from now on. Of those that are not taken yet, the newest `capacity` are kept, and a
    /// few more.
    pub(crate) fn begin(&self, capacity: usize) -> Result<broadcast::Receiver<WatchedCommit>> {
        let (sender, receiver) = broadcast::channel(capacity);
        self.feed.with(|state| {
            if state.is_closed {
                return Err(Error::new(ErrorKind::Closed, "the store is closed"));
            }
            let watches = state.collections.get_mut(&self.collection);
            for (number, own) in watches.into_iter().flatten() {
                if *number == self.number {
                    *own = Some(sender.clone());
                }
            }
            Ok(receiver)
        })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.feed.with(|state| {
            if let Some(watches) = state.collections.get_mut(&self.collection) {
                watches.retain(|(number, _)| *number != self.number);
                if watches.is_empty() {
                    state.collections.remove(&self.collection);
                }
            }
        });
        self.feed.0.watches.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a transaction changes in collections that are watched.
///
/// A store MUST [publish](Changes::publish) it after the commit is visible and as durable as asked and before the
/// call that commits returns, in the order of commits. It MUST drop it with a transaction, or a run of a unit of
/// work, that is rolled back.
#[derive(Debug)]
pub struct Changes {
    feed: Feed,
    collections: BTreeMap<String, CollectionChanges>,
}

#[derive(Debug, Default)]
struct CollectionChanges {
    all: Vec<RecordedChange>,
    /// The position of each document by the key of its `_id`.
    positions: HashMap<Vec<u8>, usize>,
}

#[derive(Debug)]
struct RecordedChange {
    change: DocumentChange,
    is_cold_changed: bool,
}

impl Changes {
    /// Passes the changes to those who watch.
    pub fn publish(self) {
        for (collection, changes) in self.collections {
            let changes = changes.all.into_iter();
            let commit: WatchedCommit = changes
                .filter(|recorded| recorded.is_cold_changed || recorded.change.is_different())
                .map(|recorded| recorded.change)
                .collect();
            if !commit.is_empty() {
                self.feed.send(&collection, commit);
            }
        }
    }

    /// Takes what is recorded, and leaves nothing.
    pub fn take(&mut self) -> Changes {
        let empty = self.feed.begin();
        std::mem::replace(self, empty)
    }

    /// Whether somebody watches a collection.
    pub(crate) fn is_watched(&self, collection: &str) -> bool {
        self.feed.is_watched(collection)
    }

    /// Records a change of a document, after those that are recorded of it.
    pub(crate) fn add(&mut self, collection: &str, change: DocumentChange, is_cold_changed: bool) {
        let document = change.before.as_ref().or(change.after.as_ref());
        let id = document.and_then(|document| path::get(document, "_id"));
        let key = key::of(id.unwrap_or(RawBsonRef::Null));
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
        changes.all.push(RecordedChange {
            change,
            is_cold_changed,
        });
    }
}

impl DocumentChange {
    fn is_different(&self) -> bool {
        let before = self.before.as_ref().map(|before| before.as_bytes());
        before != self.after.as_ref().map(|after| after.as_bytes())
    }
}
