//! Follows a plan through the engine: index entries, and the documents that they refer to.

mod merge;

use std::ops::ControlFlow;

use bson::RawDocument;
use odm_store::{Cost, Result};

use self::merge::Merged;
use super::{
    layout::{self, damaged},
    plan::{AccessPath, KeyRange, Plan, Source},
    schema::Collection,
    view::{EntryBytes, EntryRange, View},
};

/// Looks up the documents of a collection.
pub(super) struct Documents<'a> {
    view: View<'a>,
    tree: layout::Tree,
}

impl<'a> Documents<'a> {
    pub(super) fn new(view: View<'a>, collection: &Collection) -> Self {
        Documents {
            view,
            tree: collection.tree,
        }
    }

    pub(super) fn with(
        &self,
        entry: &PlanEntry<'_>,
        then: impl FnOnce(&[u8], &RawDocument) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>> {
        match entry.document() {
            Some(document) => then(entry.id(), read(document)?),
            None => self.by_id(entry.id(), then),
        }
    }

    pub(super) fn by_id(
        &self,
        id: &[u8],
        then: impl FnOnce(&[u8], &RawDocument) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>> {
        match self.view.get(self.tree, id)? {
            Some(document) => then(id, read(&document)?),
            None => Err(damaged("an index entry refers to no document")),
        }
    }
}

/// Reads stored bytes as a document, without a copy.
pub(super) fn read(bytes: &[u8]) -> Result<&RawDocument> {
    RawDocument::from_bytes(bytes)
        .map_err(|error| damaged(format_args!("a document cannot be read: {error}")))
}

/// An entry of an index, or a document.
pub(super) struct PlanEntry<'a> {
    pub(super) source: &'a Source<'a>,
    pub(super) key: &'a [u8],
    value: &'a [u8],
    kind: EntryKind,
    /// Whether its key passes the tests of its access path. If not, its document does not match the query.
    pub(super) passes: bool,
    /// Whether the document may have more entries.
    pub(super) repeats: bool,
    /// The position of the part of the key that gives the order.
    pub(super) order_start: usize,
}

/// The position of the key of `_id`.
#[derive(Clone, Copy)]
enum EntryKind {
    /// In the key, which is the key of the document.
    Document,
    /// In the value.
    Unique,
    /// At this position of the key.
    Index(usize),
}

impl PlanEntry<'_> {
    pub(super) fn id(&self) -> &[u8] {
        match self.kind {
            EntryKind::Document => self.key,
            EntryKind::Unique => self.value,
            EntryKind::Index(at) => &self.key[at..],
        }
    }

    /// The part of the key that gives the order.
    pub(super) fn ordered(&self) -> &[u8] {
        &self.key[self.order_start..]
    }

    fn document(&self) -> Option<&[u8]> {
        matches!(self.kind, EntryKind::Document).then_some(self.value)
    }
}

/// The entries that a plan finds, in the order in which it finds them.
pub(super) struct PlanEntries<'a> {
    view: View<'a>,
    plan: Plan<'a, 'a>,
    /// Whether a document may be found several times.
    repeats: bool,
    /// The next access path, and the next range of it.
    next: (usize, usize),
    current: Current<'a>,
    /// The ranges of a plan that merges them, once they are read.
    merged: Option<Merged<'a>>,
}

/// The part of an access path that is being read.
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all entries are those of ranges, which must not be allocated"
)]
enum Current<'a> {
    None,
    Range(EntryRange<'a>),
    /// The value of the range before the next one, which is one key.
    Point(EntryBytes<'a>),
}

impl<'a> Plan<'a, 'a> {
    pub(super) fn entries(self, view: View<'a>) -> PlanEntries<'a> {
        self.count_uses();
        PlanEntries {
            view,
            repeats: self.repeats(),
            plan: self,
            next: (0, 0),
            current: Current::None,
            merged: None,
        }
    }
}

impl<'a> PlanEntries<'a> {
    pub(super) fn next(&mut self, cost: &mut Cost) -> Result<Option<PlanEntry<'_>>> {
        if self.plan.is_merged() {
            return self.next_merged(cost);
        }
        if !self.advance()? {
            return Ok(None);
        }
        let access = &self.plan.access_paths()[self.next.0];
        let (key, value) = match &self.current {
            Current::Range(range) => range.entry(),
            // `next` is already the following range.
            Current::Point(value) => match access.range(self.next.1 - 1) {
                Some(point) => (&*point.lower, &**value),
                None => return Ok(None),
            },
            Current::None => return Ok(None),
        };
        access.count(cost);
        entry(access, key, value, self.repeats).map(Some)
    }

    /// Goes on to the next entry. Returns whether there is one.
    fn advance(&mut self) -> Result<bool> {
        if let Current::Range(range) = &mut self.current
            && range.advance()?
        {
            return Ok(true);
        }
        self.begin_range()
    }

    /// Goes on to the first entry of the next range that has one.
    fn begin_range(&mut self) -> Result<bool> {
        self.current = Current::None;
        while let Some(access) = self.plan.access_paths().get(self.next.0) {
            let Some(range) = access.range(self.next.1) else {
                self.next = (self.next.0 + 1, 0);
                continue;
            };
            self.next.1 += 1;
            let (tree, backward) = (access.source.tree, access.backward);
            if access.points {
                if let Some(value) = self.view.get(tree, &range.lower)? {
                    self.current = Current::Point(value);
                    return Ok(true);
                }
                continue;
            }
            let mut range = self
                .view
                .range(tree, &range.lower, &range.upper, backward)?;
            if range.advance()? {
                self.current = Current::Range(range);
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl AccessPath<'_, '_> {
    /// Counts an entry that was read.
    fn count(&self, cost: &mut Cost) {
        cost.keys_examined += u64::from(self.source.index.is_some());
    }

    /// A range, counted in reading order.
    fn range(&self, at: usize) -> Option<&KeyRange> {
        match self.backward {
            false => self.ranges.get(at),
            true => self
                .ranges
                .len()
                .checked_sub(at + 1)
                .map(|at| &self.ranges[at]),
        }
    }
}

fn entry<'a>(
    access: &'a AccessPath<'_, '_>,
    key: &'a [u8],
    value: &'a [u8],
    repeats: bool,
) -> Result<PlanEntry<'a>> {
    let kind = match access.source.index {
        None => EntryKind::Document,
        Some(index) if index.spec.unique => EntryKind::Unique,
        Some(_) => EntryKind::Index(layout::id_start(key, value)?),
    };
    let passes = access.passes(key);
    Ok(PlanEntry {
        source: &access.source,
        passes: passes.ok_or_else(|| damaged("an index entry cannot be read"))?,
        key,
        value,
        kind,
        repeats,
        order_start: 0,
    })
}

/// The document whose `_id` has this key.
pub(super) fn document<'a>(
    view: View<'a>,
    collection: &Collection,
    id: &[u8],
) -> Result<Option<EntryBytes<'a>>> {
    view.get(collection.tree, id)
}
