//! The newest committed state, which all readers share.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use bson::RawBson;
use odm_mql::Collation;
use odm_store::{
    Aggregate, CollectionMark, Cost, Each, Error, Explain, Feed, Find, FindByKey, Reader, Result,
    metrics,
};

use super::{
    engine::BaseState,
    memtable::{CommitNumber, Memtables},
    read::Reading,
    schema::Schema,
    settings::Settings,
    view::View,
    wait::YieldBudget,
};

/// A committed state.
pub(super) struct Snapshot {
    /// The state of the engine as of a checkpoint.
    pub(super) base: Arc<BaseState>,
    /// The changes since then.
    pub(super) memtables: Memtables,
    pub(super) schema: Arc<Schema>,
    pub(super) settings: Arc<Settings>,
}

impl Snapshot {
    pub(super) fn view(&self) -> View<'_> {
        View {
            overlay: None,
            memtables: &self.memtables,
            base: &self.base,
            schema: &self.schema,
            reads: None,
        }
    }

    fn reading(&self) -> Reading<'_> {
        Reading {
            view: self.view(),
            settings: &self.settings,
            budget: YieldBudget::per_chunk(),
        }
    }
}

#[async_trait]
impl Reader for Snapshot {
    async fn get(&self, collection: &str, ids: &[RawBson], each: Each<'_>) -> Result<Cost> {
        self.reading().get(collection, ids, each).await
    }

    async fn find(&self, find: &Find, each: Each<'_>) -> Result<Cost> {
        self.reading().find(find, each).await
    }

    async fn find_by_key(&self, find: &FindByKey, each: Each<'_>) -> Result<Cost> {
        self.reading().find_by_key(find, each).await
    }

    async fn count(&self, find: &Find) -> Result<(u64, Cost)> {
        self.reading().count(find).await
    }

    async fn count_by_key(&self, find: &FindByKey) -> Result<(Vec<u64>, Cost)> {
        self.reading().count_by_key(find).await
    }

    async fn aggregate(&self, aggregate: &Aggregate, each: Each<'_>) -> Result<Cost> {
        self.reading().aggregate(aggregate, each).await
    }

    async fn explain(&self, find: &Find) -> Result<Explain> {
        self.reading().explain(find).await
    }

    async fn index_of(&self, find: &Find) -> Result<Option<String>> {
        Ok(self.reading().index_of(find))
    }

    async fn default_collation(&self, collection: &str) -> Result<Option<Collation>> {
        Ok(self.schema.default_collation(collection))
    }

    fn mark(&self, collection: &str) -> Option<CollectionMark> {
        let tree = self.schema.collection(collection)?.tree;
        let last = self.memtables.last_change(tree)?;
        Some(CollectionMark::new(&self.base, tree.into(), last))
    }
}

/// The newest state, which the writer publishes and readers take.
///
/// The lock is held only to copy a pointer. A replaced state lives on in its readers.
pub(super) struct Published {
    newest: RwLock<Result<Arc<Snapshot>>>,
    earlier: Mutex<EarlierStates>,
    open: Arc<OpenTransactions>,
    /// The changes of the published states, for watches.
    pub(super) feed: Feed,
}

/// The states that had readers when they were replaced, each with the time of its replacement.
#[derive(Default)]
struct EarlierStates {
    all: Vec<(Instant, Weak<Snapshot>)>,
    /// The number that the metrics have.
    told: usize,
}

impl EarlierStates {
    /// Forgets the states that are not read any more.
    fn update(&mut self) {
        self.all.retain(|(_, state)| state.strong_count() > 0);
    }

    fn tell(&mut self, number: usize) {
        metrics::earlier_states(self.told, number);
        self.told = number;
    }
}

/// The number of open transactions of callers by the commits on which they began.
#[derive(Default)]
struct OpenTransactions(Mutex<BTreeMap<CommitNumber, usize>>);

impl OpenTransactions {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<CommitNumber, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open transaction, until it is dropped.
pub(super) struct OpenTransaction {
    transactions: Arc<OpenTransactions>,
    commit: CommitNumber,
}

impl Drop for OpenTransaction {
    fn drop(&mut self) {
        let mut open = self.transactions.lock();
        if let Entry::Occupied(mut number) = open.entry(self.commit) {
            *number.get_mut() -= 1;
            if *number.get() == 0 {
                number.remove();
            }
        }
    }
}

impl Published {
    pub(super) fn new(snapshot: Arc<Snapshot>) -> Self {
        Published {
            newest: RwLock::new(Ok(snapshot)),
            earlier: Mutex::default(),
            open: Arc::default(),
            feed: Feed::default(),
        }
    }

    pub(super) fn get(&self) -> Result<Arc<Snapshot>> {
        self.newest
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Returns the newest state for a transaction, whose reads are checked at its commit.
    pub(super) fn begin(&self) -> Result<(Arc<Snapshot>, OpenTransaction)> {
        let mut open = self.open.lock();
        let state = self.get()?;
        let commit = state.memtables.commit;
        *open.entry(commit).or_default() += 1;
        let transactions = self.open.clone();
        Ok((
            state,
            OpenTransaction {
                transactions,
                commit,
            },
        ))
    }

    /// The commit of the oldest open transaction.
    pub(super) fn oldest_open(&self) -> Option<CommitNumber> {
        self.open.lock().keys().next().copied()
    }

    pub(super) fn publish(&self, snapshot: Arc<Snapshot>) {
        let last = self.set(Ok(snapshot));
        let mut earlier = self.earlier.lock().unwrap_or_else(PoisonError::into_inner);
        earlier.update();
        // The state that is replaced now is reported at the next commit: until then it is rarely more than a read.
        let number = earlier.all.len();
        earlier.tell(number);
        if let Ok(last) = &last
            && Arc::strong_count(last) > 1
        {
            earlier.all.push((Instant::now(), Arc::downgrade(last)));
        }
        drop(earlier);
        // The last reader of a state frees its pages. This must not happen under a lock.
        drop(last);
    }

    /// Adds a state that is not published itself, for its readers.
    pub(super) fn add_earlier(&self, state: &Arc<Snapshot>) {
        let mut earlier = self.earlier.lock().unwrap_or_else(PoisonError::into_inner);
        earlier.all.push((Instant::now(), Arc::downgrade(state)));
    }

    /// The number of the earlier states with readers, and the time since the oldest of them was replaced.
    pub(super) fn earlier(&self) -> (u64, Option<Duration>) {
        let mut earlier = self.earlier.lock().unwrap_or_else(PoisonError::into_inner);
        earlier.update();
        let oldest = earlier.all.first().map(|(replaced, _)| replaced.elapsed());
        (earlier.all.len() as u64, oldest)
    }

    /// The approximate memory of the memtables that only states before the newest one have, in bytes.
    pub(super) fn held_memtables(&self, newest: &Snapshot) -> usize {
        let earlier = self.earlier.lock().unwrap_or_else(PoisonError::into_inner);
        let states = earlier.all.iter().filter_map(|(_, state)| state.upgrade());
        let states: Vec<Arc<Snapshot>> = states.collect();
        drop(earlier);
        let states = states.iter().map(|state| &state.memtables);
        newest.memtables.bytes_beside(states)
    }

    /// Makes all later reads fail, and ends the watches.
    pub(super) fn close(&self, error: Error) {
        drop(self.set(Err(error)));
        let mut earlier = self.earlier.lock().unwrap_or_else(PoisonError::into_inner);
        earlier.tell(0);
        drop(earlier);
        self.feed.close();
    }

    /// Returns the state that was the newest one.
    fn set(&self, next: Result<Arc<Snapshot>>) -> Result<Arc<Snapshot>> {
        let mut published = self.newest.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *published, next)
    }
}
