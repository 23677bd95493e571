//! The changes of the commits since a checkpoint, in memory.
//!
//! A commit adds its changes here, each with its number, and touches no tree of the engine. A *checkpoint* freezes the table, so that later
//! commits go into a new one, and writes it into the engine, beside writers and readers. A state is the engine as of a checkpoint, the
//! frozen table, the present one, and the number of a commit: changes of later commits are in the tables, and are not part of the state.

mod filter;

use std::{
    borrow::Borrow,
    cmp::Ordering,
    collections::{HashMap, HashSet},
    ops::Bound,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{self, AtomicU64, AtomicUsize},
    },
};

use crossbeam_skiplist::{SkipMap, map::Entry};
use odm_mql::steps;

use self::filter::KeyFilter;
use super::{
    layout::Tree,
    overlay::{NewValue, Overlay},
};

/// The number of a commit, in the order of commits since the store was opened.
pub(super) type CommitNumber = u64;

/// The approximate memory of a change, in addition to the bytes of its key and value.
const OVERHEAD: usize = 128;

/// The present table, to which the writer adds commits.
#[derive(Default)]
pub(super) struct Memtable {
    table: TableState,
}

/// A table, as the states that read it have it.
#[derive(Clone, Default)]
struct TableState {
    trees: Trees,
    /// `None` in a table without changes.
    shared: Option<Arc<SharedTable>>,
}

/// The parts of a table that all states of it share.
#[derive(Default)]
struct SharedTable {
    /// The keys of all trees.
    filter: KeyFilter,
    /// The approximate memory of the changes.
    bytes: AtomicUsize,
}

impl SharedTable {
    fn bytes(&self) -> usize {
        self.bytes.load(atomic::Ordering::Relaxed)
    }
}

impl TableState {
    fn of(&self, tree: Tree) -> Option<&TreeVersions> {
        self.trees.get(tree as usize)?.as_deref()
    }

    /// The changes of a tree, if there may be one of this key.
    #[inline]
    fn of_key(&self, tree: Tree, key: &[u8]) -> Option<&TreeVersions> {
        let versions = self.of(tree)?;
        let shared = self.shared.as_ref()?;
        shared.filter.may_have(tree, key).then_some(versions)
    }
}

/// The changes by the numbers of their trees. A tree without changes has `None`, or no place. A table that gets a further tree leaves this
/// list to the states that have it: they are older than the changes of that tree.
type Trees = Arc<[Option<Arc<TreeVersions>>]>;

/// The changes of one tree.
#[derive(Default)]
struct TreeVersions {
    versions: SkipMap<Version, NewValue>,
    /// By how much the number of entries differs from that before the table, from each of these commits on.
    growth: Mutex<Vec<(CommitNumber, i64)>>,
    /// The last commit that has changed the tree.
    last: AtomicU64,
}

impl TreeVersions {
    fn growth(&self) -> MutexGuard<'_, Vec<(CommitNumber, i64)>> {
        self.growth.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn growth_at(&self, commit: CommitNumber) -> i64 {
        let growth = self.growth();
        let later = growth.partition_point(|(since, _)| *since <= commit);
        let at = later.checked_sub(1).and_then(|at| growth.get(at));
        at.map_or(0, |(_, growth)| *growth)
    }

    fn is_changed_since(&self, since: CommitNumber) -> bool {
        self.last.load(atomic::Ordering::Relaxed) > since
    }

    /// The newest version of a key that a commit sees.
    fn version(&self, key: &[u8], commit: CommitNumber) -> Option<Entry<'_, Version, NewValue>> {
        let at: &dyn KeyAt = &(key, commit);
        let entry = self.versions.lower_bound(Bound::Included(at))?;
        (*entry.key().key == *key).then_some(entry)
    }
}

/// A key as of a commit.
struct Version {
    key: Arc<[u8]>,
    commit: CommitNumber,
}

/// A key as of a commit, in the order of versions: by key, the newest first.
trait KeyAt {
    fn key(&self) -> &[u8];
    fn commit(&self) -> CommitNumber;
}

impl KeyAt for Version {
    fn key(&self) -> &[u8] {
        &self.key
    }

    fn commit(&self) -> CommitNumber {
        self.commit
    }
}

impl KeyAt for (&[u8], CommitNumber) {
    fn key(&self) -> &[u8] {
        self.0
    }

    fn commit(&self) -> CommitNumber {
        self.1
    }
}

impl<'a> Borrow<dyn KeyAt + 'a> for Version {
    fn borrow(&self) -> &(dyn KeyAt + 'a) {
        self
    }
}

impl Ord for dyn KeyAt + '_ {
    fn cmp(&self, other: &Self) -> Ordering {
        let keys = self.key().cmp(other.key());
        keys.then_with(|| other.commit().cmp(&self.commit()))
    }
}

impl PartialOrd for dyn KeyAt + '_ {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for dyn KeyAt + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for dyn KeyAt + '_ {}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let (this, other): (&dyn KeyAt, &dyn KeyAt) = (self, other);
        this.cmp(other)
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Version {}

impl Memtable {
    /// Adds the changes of a commit, whose number is greater than all before it.
    pub(super) fn add(&mut self, commit: CommitNumber, changes: &Overlay) {
        for (tree, changes, growth) in changes.trees() {
            let shared = self.table.shared.get_or_insert_default().clone();
            let mut bytes = 0;
            let versions = self.tree(tree);
            versions.last.store(commit, atomic::Ordering::Relaxed);
            for (key, value) in changes {
                bytes += OVERHEAD + key.len() + value.as_ref().map_or(0, |value| value.len());
                shared.filter.add(tree, key);
                let version = Version {
                    key: key.clone(),
                    commit,
                };
                versions.versions.insert(version, value.clone());
            }
            shared.bytes.fetch_add(bytes, atomic::Ordering::Relaxed);
            if growth != 0 {
                let total = versions.growth_at(commit).saturating_add(growth);
                versions.growth().push((commit, total));
            }
        }
    }

    fn tree(&mut self, tree: Tree) -> Arc<TreeVersions> {
        let at = tree as usize;
        if let Some(Some(versions)) = self.table.trees.get(at) {
            return versions.clone();
        }
        let mut trees = self.table.trees.to_vec();
        if trees.len() <= at {
            trees.resize(at + 1, None);
        }
        let versions = trees[at].insert(Arc::default()).clone();
        self.table.trees = trees.into();
        versions
    }

    pub(super) fn is_empty(&self) -> bool {
        self.table.trees.is_empty()
    }

    /// The approximate memory of the changes.
    pub(super) fn bytes(&self) -> usize {
        let shared = self.table.shared.as_ref();
        shared.map_or(0, |shared| shared.bytes())
    }

    /// The tables that a state reads which has all commits up to this one.
    pub(super) fn state(&self, frozen: &Memtables, commit: CommitNumber) -> Memtables {
        Memtables {
            tables: [self.table.clone(), frozen.tables[0].clone()],
            commit,
        }
    }
}

/// The tables that a state reads, the newest first.
#[derive(Clone, Default)]
pub(super) struct Memtables {
    tables: [TableState; 2],
    /// The last commit of the state.
    pub(super) commit: CommitNumber,
}

/// A change with its key.
pub(super) type SharedChange = (Tree, Arc<[u8]>, NewValue);

impl Memtables {
    /// No tables: the state of the engine after this commit.
    pub(super) fn none(commit: CommitNumber) -> Memtables {
        Memtables {
            tables: Default::default(),
            commit,
        }
    }

    fn shared(&self) -> impl Iterator<Item = &Arc<SharedTable>> {
        self.tables.iter().flat_map(|table| &table.shared)
    }

    /// The approximate memory of the tables of some states that this one does not have, in bytes.
    pub(super) fn bytes_beside<'a>(&self, states: impl Iterator<Item = &'a Memtables>) -> usize {
        let own = self.shared().map(Arc::as_ptr).collect::<HashSet<_>>();
        let beside = states.flat_map(Memtables::shared);
        let beside = beside.filter(|table| !own.contains(&Arc::as_ptr(table)));
        let beside: HashMap<_, _> = beside.map(|table| (Arc::as_ptr(table), table)).collect();
        beside.values().map(|table| table.bytes()).sum()
    }

    /// The changes of a tree, the newest first.
    #[inline]
    fn of(&self, tree: Tree) -> impl Iterator<Item = &TreeVersions> {
        let tables = self.tables.iter();
        tables.filter_map(move |table| table.of(tree))
    }

    /// The change of a key, if there is one.
    #[inline]
    pub(super) fn get(&self, tree: Tree, key: &[u8]) -> Option<NewValue> {
        self.tables.iter().find_map(|table| {
            let versions = table.of_key(tree, key)?;
            steps::step();
            let entry = versions.version(key, self.commit)?;
            Some(entry.value().clone())
        })
    }

    /// By how much the number of entries of a tree differs from that of the engine.
    pub(super) fn growth(&self, tree: Tree) -> i64 {
        let of = self.of(tree);
        of.map(|versions| versions.growth_at(self.commit)).sum()
    }

    /// The last commit that has changed a tree in these tables, or 0. `None` while a later commit than those of the state is added.
    pub(super) fn last_change(&self, tree: Tree) -> Option<CommitNumber> {
        let changes = self.of(tree);
        let last = changes.map(|versions| versions.last.load(atomic::Ordering::Relaxed));
        let last = last.max().unwrap_or(0);
        (last <= self.commit).then_some(last)
    }

    /// The trees that may have entries.
    pub(super) fn trees(&self) -> impl Iterator<Item = Tree> {
        let trees = self.tables.iter();
        let trees = trees.flat_map(|table| (0..).zip(table.trees.iter()));
        trees.filter_map(|(tree, versions)| versions.is_some().then_some(tree))
    }

    /// The changes of a tree in a range, for each table that has changes of the tree, the newest first.
    pub(super) fn ranges<'a>(
        &'a self,
        tree: Tree,
        lower: &[u8],
        upper: &[u8],
        backward: bool,
    ) -> impl Iterator<Item = ChangeRange<'a>> {
        self.of(tree).map(move |versions| ChangeRange {
            versions,
            commit: self.commit,
            lower: lower.to_vec(),
            upper: upper.to_vec(),
            backward,
            next: None,
            is_begun: false,
        })
    }

    /// Whether a commit after `since` has changed a key.
    pub(super) fn has_changed(&self, tree: Tree, key: &[u8], since: CommitNumber) -> bool {
        self.tables.iter().any(|table| {
            let versions = table.of_key(tree, key);
            let Some(versions) = versions.filter(|versions| versions.is_changed_since(since))
            else {
                return false;
            };
            let newest = versions.version(key, CommitNumber::MAX);
            newest.is_some_and(|newest| newest.key().commit > since)
        })
    }

    /// Whether a commit after `since` has changed a key from `lower`, included, to `upper`, excluded.
    pub(super) fn has_changed_in(
        &self,
        tree: Tree,
        (lower, upper): (&[u8], &[u8]),
        since: CommitNumber,
    ) -> bool {
        let changed = self.of(tree);
        let mut changed = changed.filter(|versions| versions.is_changed_since(since));
        changed.any(|versions| {
            let start: &dyn KeyAt = &(lower, CommitNumber::MAX);
            let mut next = versions.versions.lower_bound(Bound::Included(start));
            while let Some(version) = next.filter(|version| *version.key().key < *upper) {
                if version.key().commit > since {
                    return true;
                }
                next = version.next();
            }
            false
        })
    }

    /// The newest change of each key, in the order of trees and keys.
    pub(super) fn changes(&self) -> Vec<SharedChange> {
        debug_assert!(
            self.tables[1].trees.is_empty(),
            "one table is written at a time"
        );
        let mut changes: Vec<SharedChange> = Vec::new();
        for (tree, versions) in (0..).zip(self.tables[0].trees.iter()) {
            for entry in versions.iter().flat_map(|of| of.versions.iter()) {
                let key = &entry.key().key;
                let is_older = changes
                    .last()
                    .is_some_and(|last| last.0 == tree && last.1 == *key);
                if !is_older {
                    changes.push((tree, key.clone(), entry.value().clone()));
                }
            }
        }
        changes
    }
}

/// The changes of a tree in a range, as a commit sees them: one for each key, in one direction.
pub(super) struct ChangeRange<'a> {
    versions: &'a TreeVersions,
    commit: CommitNumber,
    lower: Vec<u8>,
    upper: Vec<u8>,
    backward: bool,
    /// The first version that was not looked at, if the range has begun.
    next: Option<Entry<'a, Version, NewValue>>,
    is_begun: bool,
}

/// A change, in its place in the table.
pub(super) struct CommittedChange<'a>(Entry<'a, Version, NewValue>);

impl CommittedChange<'_> {
    pub(super) fn key(&self) -> &[u8] {
        &self.0.key().key
    }

    /// `None` for a removed key.
    pub(super) fn value(&self) -> Option<&[u8]> {
        self.0.value().as_deref()
    }
}

impl<'a> ChangeRange<'a> {
    pub(super) fn next(&mut self) -> Option<CommittedChange<'a>> {
        let versions = &self.versions.versions;
        if !std::mem::replace(&mut self.is_begun, true) {
            // Of the versions with equal keys, those of later commits come first.
            self.next = if self.backward {
                let end: &dyn KeyAt = &(&*self.upper, CommitNumber::MAX);
                versions.upper_bound(Bound::Excluded(end))
            } else {
                let start: &dyn KeyAt = &(&*self.lower, CommitNumber::MAX);
                versions.lower_bound(Bound::Included(start))
            };
        }
        loop {
            steps::step();
            let next = self.next.take()?;
            let key = &next.key().key;
            let is_over = if self.backward {
                **key < *self.lower
            } else {
                **key >= *self.upper
            };
            if is_over {
                return None;
            }
            self.next = self.beyond(&next);
            let seen = if !self.backward && next.key().commit <= self.commit {
                Some(next)
            } else {
                self.versions.version(&next.key().key, self.commit)
            };
            if let Some(seen) = seen {
                return Some(CommittedChange(seen));
            }
        }
    }

    /// The first version of the next key.
    fn beyond(&self, entry: &Entry<'a, Version, NewValue>) -> Option<Entry<'a, Version, NewValue>> {
        let key = &entry.key().key;
        let neighbour = if self.backward {
            entry.prev()
        } else {
            entry.next()
        };
        match neighbour {
            // A key with several versions.
            Some(neighbour) if neighbour.key().key == *key => {
                let versions = &self.versions.versions;
                if self.backward {
                    let newest: &dyn KeyAt = &(&**key, CommitNumber::MAX);
                    versions.upper_bound(Bound::Excluded(newest))
                } else {
                    let oldest: &dyn KeyAt = &(&**key, 0);
                    versions.lower_bound(Bound::Excluded(oldest))
                }
            }
            neighbour => neighbour,
        }
    }
}
