//! A committed state with uncommitted changes on top, read as one.

use std::{cmp::Ordering, collections::btree_map, ops::Deref, sync::Arc};

use odm_mql::steps;
use odm_store::Result;

use super::{
    engine::{BaseBytes, BaseRange, BaseState},
    layout::{END, Tree},
    overlay::{NewValue, Overlay},
    schema::Schema,
};

type BaseEntry = (BaseBytes, BaseBytes);
type ChangedEntry<'a> = (&'a Arc<[u8]>, &'a NewValue);

/// The state that a read sees.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) base: &'a BaseState,
    pub(super) overlay: Option<&'a Overlay>,
    pub(super) schema: &'a Schema,
}

/// A key or a value.
pub(super) enum EntryBytes<'a> {
    Base(BaseBytes),
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
            EntryBytes::Changed(bytes) => bytes,
            EntryBytes::Asked(bytes) => bytes,
        }
    }
}

impl<'a> View<'a> {
    #[inline]
    pub(super) fn get(&self, tree: Tree, key: &[u8]) -> Result<Option<EntryBytes<'a>>> {
        steps::step();
        match self.overlay.and_then(|overlay| overlay.get(tree, key)) {
            Some(change) => Ok(change.as_deref().map(EntryBytes::Changed)),
            None => Ok(self.base.get(tree, key)?.map(EntryBytes::Base)),
        }
    }

    /// The number of entries of a tree, if it is known without reading them.
    pub(super) fn len(&self, tree: Tree) -> Result<Option<u64>> {
        match self.overlay {
            Some(overlay) if overlay.range(tree, &[], &END).is_some() => Ok(None),
            _ => self.base.len(tree),
        }
    }

    /// The entries of a tree from `lower`, included, to `upper`, excluded, in this direction.
    pub(super) fn range(
        &self,
        tree: Tree,
        lower: &[u8],
        upper: &[u8],
        backward: bool,
    ) -> Result<EntryRange<'a>> {
        if lower >= upper {
            return Ok(EntryRange {
                base: None,
                changes: None,
                backward,
                next: (None, None),
            });
        }
        let overlay = self.overlay;
        Ok(EntryRange {
            base: Some(self.base.range(tree, lower, upper, backward)?),
            changes: overlay.and_then(|overlay| overlay.range(tree, lower, upper)),
            backward,
            next: (None, None),
        })
    }
}

/// The entries of a range in one direction.
pub(super) struct EntryRange<'a> {
    /// `None` at its end.
    base: Option<BaseRange>,
    changes: Option<btree_map::Range<'a, Arc<[u8]>, NewValue>>,
    backward: bool,
    /// The entries that were read from each side and not returned yet.
    next: (Option<BaseEntry>, Option<ChangedEntry<'a>>),
}

impl<'a> EntryRange<'a> {
    fn pull_base(&mut self) -> Result<Option<(BaseBytes, BaseBytes)>> {
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
        if self.changes.is_none() {
            let entry = self.pull_base()?;
            return Ok(entry.map(|(key, value)| (EntryBytes::Base(key), EntryBytes::Base(value))));
        }
        self.merged()
    }

    fn merged(&mut self) -> Result<Option<(EntryBytes<'a>, EntryBytes<'a>)>> {
        loop {
            if self.next.0.is_none() {
                self.next.0 = self.pull_base()?;
            }
            if self.next.1.is_none()
                && let Some(changes) = &mut self.changes
            {
                self.next.1 = if self.backward {
                    changes.next_back()
                } else {
                    changes.next()
                };
            }
            // `Less`: the entry of the base comes first.
            let order = match (&self.next.0, &self.next.1) {
                (None, None) => return Ok(None),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((base, _)), Some((change, _))) => {
                    let order = (**base).cmp(&***change);
                    if self.backward {
                        order.reverse()
                    } else {
                        order
                    }
                }
            };
            if order.is_le()
                && let Some((key, value)) = self.next.0.take()
                && order.is_lt()
            {
                return Ok(Some((EntryBytes::Base(key), EntryBytes::Base(value))));
            }
            // A change replaces the entry of the base that has its key, which was taken above.
            if let Some((key, Some(value))) = self.next.1.take() {
                return Ok(Some((EntryBytes::Changed(key), EntryBytes::Changed(value))));
            }
        }
    }
}
