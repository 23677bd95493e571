//! A committed state with uncommitted changes on top, read as one.

use std::{cmp::Ordering, collections::btree_map, ops::Deref, sync::Arc};

use odm_mql::steps;
use odm_store::Result;

use super::{
    engine::{BaseBytes, BaseRange, BaseState},
    layout::{END, Tree},
    memtable::{ChangeRange, Memtables},
    overlay::{NewValue, Overlay},
    reads::{RangeReads, ReadSet},
    schema::{Collection, Schema},
};

type BaseEntry = (BaseBytes, BaseBytes);

/// The state that a read sees: the first of these that has a key has its value.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) overlay: Option<&'a Overlay>,
    pub(super) memtables: &'a Memtables,
    pub(super) base: &'a BaseState,
    pub(super) schema: &'a Schema,
    /// Records what is read.
    pub(super) reads: Option<&'a ReadSet>,
}

/// A key or a value.
pub(super) enum EntryBytes<'a> {
    Base(BaseBytes),
    Committed(Arc<[u8]>),
    Changed(&'a [u8]),
    /// A key that the caller looked up.
    Asked(Vec<u8>),
}

impl Deref for EntryBytes<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            EntryBytes::Base(bytes) => bytes,
            EntryBytes::Committed(bytes) => bytes,
            EntryBytes::Changed(bytes) => bytes,
            EntryBytes::Asked(bytes) => bytes,
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
            next_of_base: None,
            changes: Vec::new(),
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

/// A change, and its key.
type ChangedEntry<'a> = (EntryBytes<'a>, Option<EntryBytes<'a>>);

/// The changes of a range that were not returned yet.
struct ChangedEntries<'a> {
    changes: Changes<'a>,
    /// The first of them, if it was read already.
    next: Option<ChangedEntry<'a>>,
}

impl<'a> ChangedEntries<'a> {
    /// Reads the first change, and returns its key.
    fn peek(&mut self, backward: bool) -> Option<&[u8]> {
        if self.next.is_none() {
            self.next = match &mut self.changes {
                Changes::Uncommitted(range) => {
                    let entry = match backward {
                        true => range.next_back(),
                        false => range.next(),
                    };
                    entry.map(|(key, value)| {
                        let value = value.as_deref().map(EntryBytes::Changed);
                        (EntryBytes::Changed(key), value)
                    })
                }
                Changes::Committed(range) => range.next().map(|(key, value)| {
                    let value = value.map(EntryBytes::Committed);
                    (EntryBytes::Committed(key), value)
                }),
            };
        }
        self.next.as_ref().map(|(key, _)| &**key)
    }
}

/// The entries of a range in one direction.
pub(super) struct EntryRange<'a> {
    /// `None` at its end.
    base: Option<BaseRange>,
    /// The first entry of the base that was not returned, if it was read already.
    next_of_base: Option<BaseEntry>,
    /// The changes on top of the base, the newest first.
    changes: Vec<ChangedEntries<'a>>,
    backward: bool,
    reads: Option<RangeReads<'a>>,
}

impl<'a> EntryRange<'a> {
    fn pull_base(&mut self) -> Result<Option<BaseEntry>> {
        let Some(base) = &mut self.base else {
            return Ok(None);
        };
        let entry = base.next();
        if entry.is_none() {
            self.base = None;
        }
        entry.transpose()
    }

    /// The next entry. After an error the range must not be used.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<(EntryBytes<'a>, EntryBytes<'a>)>> {
        steps::step();
        let entry = if self.changes.is_empty() {
            let entry = self.pull_base()?;
            entry.map(|(key, value)| (EntryBytes::Base(key), EntryBytes::Base(value)))
        } else {
            self.merged()?
        };
        if let Some(reads) = &mut self.reads {
            reads.next(entry.as_ref().map(|(key, _)| &**key));
        }
        Ok(entry)
    }

    fn merged(&mut self) -> Result<Option<(EntryBytes<'a>, EntryBytes<'a>)>> {
        let backward = self.backward;
        let order = |one: &[u8], other: &[u8]| {
            let order = one.cmp(other);
            if backward { order.reverse() } else { order }
        };
        loop {
            if self.next_of_base.is_none() {
                self.next_of_base = self.pull_base()?;
            }
            // The first key, and the newest change of it.
            let mut first: Option<(usize, &[u8])> = None;
            for (at, changes) in self.changes.iter_mut().enumerate() {
                if let Some(key) = changes.peek(backward)
                    && first.is_none_or(|(_, first)| order(key, first).is_lt())
                {
                    first = Some((at, key));
                }
            }
            // `Less`: the entry of the base comes first.
            let base_first = match (&self.next_of_base, first) {
                (None, None) => return Ok(None),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((base, _)), Some((_, change))) => order(base, change),
            };
            if base_first.is_le()
                && let Some((key, value)) = self.next_of_base.take()
                && base_first.is_lt()
            {
                return Ok(Some((EntryBytes::Base(key), EntryBytes::Base(value))));
            }
            // A change replaces the entry of the base that has its key, which was taken above, and older changes.
            let newest = first.map(|(at, _)| at);
            let newest = newest.and_then(|at| self.changes[at].next.take());
            let Some((key, value)) = newest else { continue };
            for older in &mut self.changes {
                older.next.take_if(|(of, _)| **of == *key);
            }
            if let Some(value) = value {
                return Ok(Some((key, value)));
            }
        }
    }
}
