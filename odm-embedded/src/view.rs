//! A committed state with uncommitted changes on top, read as one.

use std::{cmp::Ordering, collections::btree_map, ops::Deref, sync::Arc};

use odm_mql::steps;
use odm_store::Result;

use super::{
    engine::{self, State},
    layout::{END, Tree},
    overlay::{KeyChange, Overlay},
    schema::Schema,
};

type BaseRange = engine::Range;
type BaseBytes = engine::Bytes;
type BaseEntry = (BaseBytes, BaseBytes);
type ChangedEntry<'a> = (&'a Arc<[u8]>, &'a KeyChange);

/// The state that a read sees.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) base: &'a State,
    pub(super) overlay: Option<&'a Overlay>,
    pub(super) schema: &'a Schema,
}

/// A key or a value.
pub(super) enum Bytes<'a> {
    Base(BaseBytes),
    Changed(&'a [u8]),
    /// A key that the caller looked up.
    Asked(Vec<u8>),
}

impl Deref for Bytes<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Base(bytes) => bytes,
            Bytes::Changed(bytes) => bytes,
            Bytes::Asked(bytes) => bytes,
        }
    }
}

impl<'a> View<'a> {
    #[inline]
    pub(super) fn get(&self, tree: Tree, key: &[u8]) -> Result<Option<Bytes<'a>>> {
        steps::step();
        match self.overlay.and_then(|overlay| overlay.get(tree, key)) {
            Some(change) => Ok(change.as_deref().map(Bytes::Changed)),
            None => Ok(self.base.get(tree, key)?.map(Bytes::Base)),
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
    ) -> Result<Range<'a>> {
        if lower >= upper {
            return Ok(Range {
                base: None,
                changes: None,
                backward,
                next: (None, None),
            });
        }
        let overlay = self.overlay;
        Ok(Range {
            base: Some(self.base.range(tree, lower, upper, backward)?),
            changes: overlay.and_then(|overlay| overlay.range(tree, lower, upper)),
            backward,
            next: (None, None),
        })
    }
}

/// The entries of a range in one direction.
pub(super) struct Range<'a> {
    /// `None` at its end.
    base: Option<BaseRange>,
    changes: Option<btree_map::Range<'a, Arc<[u8]>, KeyChange>>,
    backward: bool,
    /// The entries that were read from each side and not returned yet.
    next: (Option<BaseEntry>, Option<ChangedEntry<'a>>),
}

impl<'a> Range<'a> {
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
    pub(super) fn next(&mut self) -> Result<Option<(Bytes<'a>, Bytes<'a>)>> {
        steps::step();
        if self.changes.is_none() {
            let entry = self.pull_base()?;
            return Ok(entry.map(|(key, value)| (Bytes::Base(key), Bytes::Base(value))));
        }
        self.merged()
    }

    fn merged(&mut self) -> Result<Option<(Bytes<'a>, Bytes<'a>)>> {
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
                return Ok(Some((Bytes::Base(key), Bytes::Base(value))));
            }
            // A change replaces the entry of the base that has its key, which was taken above.
            if let Some((key, Some(value))) = self.next.1.take() {
                return Ok(Some((Bytes::Changed(key), Bytes::Changed(value))));
            }
        }
    }
}
