//! The entries that a transaction has read, so that its commit finds out whether they have changed.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use super::layout::{END, Tree};

/// The greatest number of keys and ranges of a tree. Beyond it, all of the tree counts as read.
const MAX_READS: usize = 1 << 14;

/// The reads of a transaction.
#[derive(Debug, Default)]
pub(super) struct ReadSet {
    reads: Mutex<Reads>,
    is_for_writes: AtomicBool,
}

#[derive(Debug, Default)]
pub(super) struct Reads {
    /// The reads of the caller: after a change of their results, only the caller can decide anew.
    pub(super) asked: ReadEntries,
    /// The reads for a write: after a change of their results, the write can be made again.
    pub(super) for_writes: ReadEntries,
}

/// The entries that were read, and the absent ones that were looked for.
#[derive(Debug, Default)]
pub(super) struct ReadEntries {
    pub(super) trees: BTreeMap<Tree, TreeReads>,
    /// Collections that were not there.
    pub(super) absent: BTreeSet<String>,
}

#[derive(Debug, Default)]
pub(super) struct TreeReads {
    pub(super) keys: BTreeSet<Vec<u8>>,
    /// Each from a key, included, to another, excluded.
    pub(super) ranges: BTreeSet<(Vec<u8>, Vec<u8>)>,
}

impl ReadEntries {
    /// Whether this entry is among them.
    pub(super) fn has(&self, tree: Tree, key: &[u8]) -> bool {
        let reads = self.trees.get(&tree);
        reads.is_some_and(|TreeReads { keys, ranges }| {
            let mut ranges = ranges.iter();
            keys.contains(key) || ranges.any(|(lower, upper)| **lower <= *key && *key < **upper)
        })
    }
}

impl TreeReads {
    fn bound(&mut self) {
        if self.keys.len() + self.ranges.len() > MAX_READS {
            self.keys.clear();
            self.ranges = BTreeSet::from([(Vec::new(), END.to_vec())]);
        }
    }
}

impl ReadSet {
    pub(super) fn lock(&self) -> MutexGuard<'_, Reads> {
        self.reads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, add: impl FnOnce(&mut ReadEntries)) {
        let mut reads = self.lock();
        if self.is_for_writes.load(Ordering::Relaxed) {
            add(&mut reads.for_writes);
        } else {
            add(&mut reads.asked);
        }
    }

    /// Says whether the reads from here on are made for writes.
    pub(super) fn set_for_writes(&self, is_for_writes: bool) {
        self.is_for_writes.store(is_for_writes, Ordering::Relaxed);
    }

    pub(super) fn key(&self, tree: Tree, key: &[u8]) {
        self.add(|entries| {
            let reads = entries.trees.entry(tree).or_default();
            if !reads.keys.contains(key) {
                reads.keys.insert(key.to_vec());
                reads.bound();
            }
        });
    }

    pub(super) fn range(&self, tree: Tree, lower: Vec<u8>, upper: Vec<u8>) {
        self.add(|entries| {
            let reads = entries.trees.entry(tree).or_default();
            reads.ranges.insert((lower, upper));
            reads.bound();
        });
    }

    pub(super) fn absent(&self, collection: &str) {
        self.add(|entries| {
            entries.absent.insert(collection.to_owned());
        });
    }
}

/// How far a range was read, recorded when it is dropped.
pub(super) struct RangeReads<'a> {
    set: &'a ReadSet,
    tree: Tree,
    lower: Vec<u8>,
    upper: Vec<u8>,
    backward: bool,
    /// The last entry that was returned.
    last: Option<Vec<u8>>,
    is_over: bool,
}

impl<'a> RangeReads<'a> {
    pub(super) fn new(
        set: &'a ReadSet,
        tree: Tree,
        (lower, upper): (&[u8], &[u8]),
        backward: bool,
    ) -> Self {
        RangeReads {
            set,
            tree,
            lower: lower.to_vec(),
            upper: upper.to_vec(),
            backward,
            last: None,
            is_over: false,
        }
    }

    /// Notes the next entry that is returned, or the end.
    pub(super) fn next(&mut self, key: Option<&[u8]>) {
        match key {
            None => self.is_over = true,
            Some(key) => {
                let last = self.last.get_or_insert_default();
                last.clear();
                last.extend_from_slice(key);
            }
        }
    }
}

impl Drop for RangeReads<'_> {
    fn drop(&mut self) {
        let (mut lower, mut upper) = (
            std::mem::take(&mut self.lower),
            std::mem::take(&mut self.upper),
        );
        match (self.is_over, self.last.take()) {
            (true, _) => {}
            (false, None) => return,
            (false, Some(last)) if self.backward => lower = last,
            (false, Some(mut last)) => {
                // The least key after it.
                last.push(0);
                upper = last;
            }
        }
        self.set.range(self.tree, lower, upper);
    }
}
