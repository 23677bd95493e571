//! A committed state with uncommitted changes on top, read as one.

use std::{collections::btree_map, ops::Deref, sync::Arc};

use odm_mql::steps;
use odm_store::{Error, Result};

use super::{
    engine::{BaseBytes, BaseEntry, BaseRange, BaseState},
    layout::{END, Tree},
    memtable::{ChangeRange, CommittedChange, Memtables},
    overlay::{NewValue, Overlay},
    reads::{RangeReads, ReadSet},
    schema::{Collection, Schema},
};

/// The state that a read sees: the first of these that has a key has its value.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) overlay: Option<&'a Overlay>,
    pub(super) memtables: &'a Memtables,
    pub(super) base: &'a BaseState,
    pub(super) schema: &'a Schema,
    /// Records the reads.
    pub(super) reads: Option<&'a ReadSet>,
}

/// A key or a value.
pub(super) enum EntryBytes<'a> {
    Base(BaseBytes),
    Committed(Arc<[u8]>),
    Changed(&'a [u8]),
}

impl Deref for EntryBytes<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            EntryBytes::Base(bytes) => bytes,
            EntryBytes::Committed(bytes) => bytes,
            EntryBytes::Changed(bytes) => bytes,
        }
    }
}

impl<'a> View<'a> {
    #[inline]
    pub(super) fn get(&self, tree: Tree, key: &[u8]) -> Result<Option<EntryBytes<'a>>> {
        steps::step();
        if let Some(reads) = self.reads {
            reads.key(tree, key);
        }
        if let Some(change) = self.overlay.and_then(|overlay| overlay.get(tree, key)) {
            return Ok(change.as_deref().map(EntryBytes::Changed));
        }
        if let Some(change) = self.memtables.get(tree, key) {
            return Ok(change.map(EntryBytes::Committed));
        }
        Ok(self.base.get(tree, key)?.map(EntryBytes::Base))
    }

    /// A collection, if it exists.
    #[inline]
    pub(super) fn collection(&self, name: &str) -> Option<&'a Arc<Collection>> {
        let found = self.schema.collection(name);
        if let (None, Some(reads)) = (found, self.reads) {
            reads.absent(name);
        }
        found
    }

    /// The number of entries of a tree, if it is known without reading them.
    pub(super) fn len(&self, tree: Tree) -> Result<Option<u64>> {
        match self.overlay {
            Some(overlay) if overlay.range(tree, &[], &END).is_some() => Ok(None),
            _ => {
                if let Some(reads) = self.reads {
                    reads.range(tree, Vec::new(), END.to_vec());
                }
                self.committed_len(tree)
            }
        }
    }

    /// The number of entries of a tree without the uncommitted changes, for an estimate. `None` in a transaction of the engine.
    pub(super) fn committed_len(&self, tree: Tree) -> Result<Option<u64>> {
        let growth = self.memtables.growth(tree);
        let len = self.base.len(tree)?;
        Ok(len.map(|len| len.saturating_add_signed(growth)))
    }

    /// The entries of a tree from `lower`, included, to `upper`, excluded, in this direction.
    pub(super) fn range(
        &self,
        tree: Tree,
        lower: &[u8],
        upper: &[u8],
        backward: bool,
    ) -> Result<EntryRange<'a>> {
        let mut range = EntryRange {
            base: None,
            run: Vec::new(),
            run_len: 1,
            at: 0,
            unchanged: 0,
            changes: Vec::new(),
            change: None,
            failed: None,
            backward,
            reads: None,
        };
        if lower >= upper {
            return Ok(range);
        }
        let read = self.reads;
        range.reads = read.map(|set| RangeReads::new(set, tree, (lower, upper), backward));
        range.base = Some(self.base.range(tree, lower, upper, backward)?);
        let uncommitted = self
            .overlay
            .and_then(|overlay| overlay.range(tree, lower, upper));
        let uncommitted = uncommitted.map(Changes::Uncommitted);
        let committed = self.memtables.ranges(tree, lower, upper, backward);
        let changes = uncommitted
            .into_iter()
            .chain(committed.map(Changes::Committed));
        range.changes.extend(changes.map(|changes| ChangedEntries {
            changes,
            next: None,
        }));
        Ok(range)
    }
}

/// The changes of a range, one for each key.
enum Changes<'a> {
    Uncommitted(btree_map::Range<'a, Arc<[u8]>, NewValue>),
    Committed(ChangeRange<'a>),
}

/// A change, in its place.
enum RangeChange<'a> {
    Uncommitted(&'a [u8], Option<&'a [u8]>),
    Committed(CommittedChange<'a>),
}

impl RangeChange<'_> {
    fn key(&self) -> &[u8] {
        match self {
            RangeChange::Uncommitted(key, _) => key,
            RangeChange::Committed(change) => change.key(),
        }
    }

    /// `None` for a removed key.
    fn value(&self) -> Option<&[u8]> {
        match self {
            RangeChange::Uncommitted(_, value) => *value,
            RangeChange::Committed(change) => change.value(),
        }
    }
}

/// The changes of a range that were not returned yet.
struct ChangedEntries<'a> {
    changes: Changes<'a>,
    /// The first of them, if it was read already.
    next: Option<RangeChange<'a>>,
}

impl ChangedEntries<'_> {
    /// Reads the first change, and returns its key.
    fn peek(&mut self, backward: bool) -> Option<&[u8]> {
        if self.next.is_none() {
            self.next = match &mut self.changes {
                Changes::Uncommitted(range) => {
                    let entry = match backward {
                        true => range.next_back(),
                        false => range.next(),
                    };
                    entry.map(|(key, value)| RangeChange::Uncommitted(key, value.as_deref()))
                }
                Changes::Committed(range) => range.next().map(RangeChange::Committed),
            };
        }
        self.next.as_ref().map(RangeChange::key)
    }
}

/// The greatest number of entries of the base that are read at once.
const MAX_RUN: usize = 8;

/// The entries of a range in one direction.
///
/// Entries of the base are read in runs, and stay in place while they are looked at. The first runs are short, since many reads need few
/// entries.
pub(super) struct EntryRange<'a> {
    /// `None` at its end.
    base: Option<BaseRange>,
    /// The entries of the base that were read last.
    run: Vec<BaseEntry>,
    /// How many entries the next run has at most.
    run_len: usize,
    /// How many entries of the run were passed.
    at: usize,
    /// The entries of the run before this one come before all changes.
    unchanged: usize,
    /// The changes on top of the base, the newest first.
    changes: Vec<ChangedEntries<'a>>,
    /// The present entry, if it is a change. If not, it is the last one of the run that was passed.
    change: Option<RangeChange<'a>>,
    /// The error after the run.
    failed: Option<Error>,
    backward: bool,
    reads: Option<RangeReads<'a>>,
}

impl<'a> EntryRange<'a> {
    /// Goes on to the next entry. Returns whether there is one. After an error the range must not be used.
    #[inline]
    pub(super) fn advance(&mut self) -> Result<bool> {
        steps::step();
        let found = if self.at < self.unchanged {
            self.change = None;
            self.at += 1;
            true
        } else {
            self.find_next()?
        };
        if self.reads.is_some() {
            self.note(found);
        }
        Ok(found)
    }

    /// The key and the value of the present entry, after [`advance`](EntryRange::advance) has found it.
    #[inline]
    pub(super) fn entry(&self) -> (&[u8], &[u8]) {
        match &self.change {
            Some(change) => (change.key(), change.value().unwrap_or_default()),
            None => {
                let (key, value) = &self.run[self.at - 1];
                (key, value)
            }
        }
    }

    /// The next entry, as a pair of its own.
    pub(super) fn next(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        Ok(self.advance()?.then(|| self.entry()))
    }

    #[cold]
    fn note(&mut self, found: bool) {
        let Some(mut reads) = self.reads.take() else {
            return;
        };
        reads.next(found.then(|| self.entry().0));
        self.reads = Some(reads);
    }

    /// Reads the next run of the base, if all of this one was passed.
    fn fill(&mut self) -> Result<()> {
        if self.at < self.run.len() {
            return Ok(());
        }
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.run.clear();
        (self.at, self.unchanged) = (0, 0);
        if let Some(base) = &mut self.base {
            let read = base.read(&mut self.run, self.run_len);
            if self.run.is_empty() {
                self.base = None;
                return read;
            }
            // The entries before the error can be read.
            self.failed = read.err();
            self.run_len = (2 * self.run_len).min(MAX_RUN);
        }
        Ok(())
    }

    /// Finds the first of the next entry of the base and the changes.
    fn find_next(&mut self) -> Result<bool> {
        let backward = self.backward;
        let order = |one: &[u8], other: &[u8]| {
            let order = one.cmp(other);
            if backward { order.reverse() } else { order }
        };
        loop {
            self.fill()?;
            // The first key, and the newest change of it.
            let mut first: Option<(usize, &[u8])> = None;
            for (at, changes) in self.changes.iter_mut().enumerate() {
                if let Some(key) = changes.peek(backward)
                    && first.is_none_or(|(_, first)| order(key, first).is_lt())
                {
                    first = Some((at, key));
                }
            }
            let rest = &self.run[self.at..];
            let Some((newest, change)) = first else {
                // Nothing more is changed.
                self.unchanged = self.run.len();
                if rest.is_empty() {
                    return Ok(false);
                }
                self.change = None;
                self.at += 1;
                return Ok(true);
            };
            let before = rest.partition_point(|(key, _)| order(key, change).is_lt());
            self.unchanged = self.at + before;
            if before > 0 {
                self.change = None;
                self.at += 1;
                return Ok(true);
            }
            // The change replaces the entry of the base that has its key, and older changes.
            if rest.first().is_some_and(|(key, _)| **key == *change) {
                self.at += 1;
            }
            let Some(change) = self.changes[newest].next.take() else {
                continue;
            };
            for older in &mut self.changes {
                older.next.take_if(|older| older.key() == change.key());
            }
            if change.value().is_some() {
                self.change = Some(change);
                return Ok(true);
            }
        }
    }
}
