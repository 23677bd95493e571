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
    pub(super) key: EntryBytes<'a>,
    value: EntryBytes<'a>,
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
            EntryKind::Document => &self.key,
            EntryKind::Unique => &self.value,
            EntryKind::Index(at) => &self.key[at..],
        }
    }

    /// The part of the key that gives the order.
    pub(super) fn ordered(&self) -> &[u8] {
        &self.key[self.order_start..]
    }

    fn document(&self) -> Option<&[u8]> {
        matches!(self.kind, EntryKind::Document).then_some(&*self.value)
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
    current: Option<EntryRange<'a>>,
    /// The ranges of a plan that merges them, once they are read.
    merged: Option<Merged<'a>>,
}

impl<'a> Plan<'a, 'a> {
    pub(super) fn entries(self, view: View<'a>) -> PlanEntries<'a> {
        PlanEntries {
            view,
            repeats: self.repeats(),
            plan: self,
            next: (0, 0),
            current: None,
            merged: None,
        }
    }
}

impl<'a> PlanEntries<'a> {
    /// The source of a plan with one access path.
    pub(super) fn source(&self) -> &Source<'_> {
        &self.plan.access_paths()[0].source
    }

    pub(super) fn next(&mut self, cost: &mut Cost) -> Result<Option<PlanEntry<'a>>> {
        if self.plan.is_merged() {
            return self.next_merged(cost);
        }
        let access_paths = self.plan.access_paths();
        let repeats = self.repeats;
        loop {
            if let Some(range) = &mut self.current {
                // `next` is already the following range.
                if let Some((key, value)) = range.next()? {
                    let access = &access_paths[self.next.0];
                    return entry(access, key, value, repeats, cost).map(Some);
                }
                self.current = None;
            }
            let Some(access) = access_paths.get(self.next.0) else {
                return Ok(None);
            };
            let Some(range) = access.range(self.next.1) else {
                self.next = (self.next.0 + 1, 0);
                continue;
            };
            self.next.1 += 1;
            if access.points {
                if let Some(value) = self.view.get(access.source.tree, &range.lower)? {
                    let key = EntryBytes::Asked(range.lower.clone());
                    return entry(access, key, value, repeats, cost).map(Some);
                }
            } else {
                self.current = Some(self.view.range(
                    access.source.tree,
                    &range.lower,
                    &range.upper,
                    access.backward,
                )?);
            }
        }
    }
}

impl AccessPath<'_, '_> {
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
    access: &AccessPath<'_, '_>,
    key: EntryBytes<'a>,
    value: EntryBytes<'a>,
    repeats: bool,
    cost: &mut Cost,
) -> Result<PlanEntry<'a>> {
    let kind = match access.source.index {
        None => EntryKind::Document,
        Some(index) => {
            cost.keys_examined += 1;
            match index.spec.unique {
                true => EntryKind::Unique,
                false => EntryKind::Index(layout::id_start(&key, &value)?),
            }
        }
    };
    let passes = access.passes(&key);
    Ok(PlanEntry {
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
