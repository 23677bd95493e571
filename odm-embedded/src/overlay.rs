//! Uncommitted changes. The last ones can be undone.

use std::{
    collections::{BTreeMap, btree_map},
    ops::Bound,
    sync::Arc,
};

use odm_mql::steps;

use super::{engine, layout::Tree};

/// A new value, or `None` for a removed key.
pub(super) type NewValue = Option<Arc<[u8]>>;

/// The changes of one tree by their keys.
pub(super) type ChangesByKey = BTreeMap<Arc<[u8]>, NewValue>;

/// The changes of one tree.
#[derive(Debug, Default)]
struct TreeChanges {
    by_key: ChangesByKey,
    /// By how much they change the number of entries.
    growth: i64,
}

/// A change that was made, to be undone.
#[derive(Debug)]
struct JournalEntry {
    tree: Tree,
    key: Arc<[u8]>,
    /// The change that it replaced: `None` if the overlay did not have the key.
    before: Option<NewValue>,
    growth: i64,
}

/// Changes on top of a committed state, in the order of their trees and keys.
#[derive(Debug, Default)]
pub(super) struct Overlay {
    trees: BTreeMap<Tree, TreeChanges>,
    /// In order.
    journal: Vec<JournalEntry>,
    /// The approximate memory of the changes and the journal.
    bytes: usize,
}

/// A moment in the history of an overlay; by default, its beginning.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct JournalPosition(usize);

/// The approximate memory of a key and its value, in addition to their bytes.
const OVERHEAD: usize = 64;

fn size(key: &[u8], change: &NewValue) -> usize {
    OVERHEAD + key.len() + change.as_ref().map_or(0, |value| value.len())
}

impl Overlay {
    pub(super) fn is_empty(&self) -> bool {
        self.trees.values().all(|changes| changes.by_key.is_empty())
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The change of a key, if there is one.
    #[inline]
    pub(super) fn get(&self, tree: Tree, key: &[u8]) -> Option<&NewValue> {
        self.trees.get(&tree)?.by_key.get(key)
    }

    /// Adds an entry, whose key the tree does not have.
    pub(super) fn insert(&mut self, tree: Tree, key: &[u8], value: &[u8]) {
        self.change(tree, key, Some(value.into()), 1);
    }

    /// Replaces the value of an entry that the tree has, or of one that is not counted.
    pub(super) fn put(&mut self, tree: Tree, key: &[u8], value: &[u8]) {
        self.change(tree, key, Some(value.into()), 0);
    }

    /// Removes an entry that the tree has.
    pub(super) fn remove(&mut self, tree: Tree, key: &[u8]) {
        self.change(tree, key, None, -1);
    }

    fn change(&mut self, tree: Tree, key: &[u8], change: NewValue, growth: i64) {
        steps::step();
        let added = size(key, &change);
        let changes = self.trees.entry(tree).or_default();
        let (key, before) = match changes.by_key.entry(key.into()) {
            btree_map::Entry::Vacant(entry) => {
                let key = entry.key().clone();
                entry.insert(change);
                (key, None)
            }
            btree_map::Entry::Occupied(mut entry) => {
                let before = entry.insert(change);
                (entry.key().clone(), Some(before))
            }
        };
        changes.growth = changes.growth.saturating_add(growth);
        // A replaced value stays in the journal.
        self.bytes += added;
        self.journal.push(JournalEntry {
            tree,
            key,
            before,
            growth,
        });
    }

    /// Makes the changes of another overlay, after its own.
    pub(super) fn absorb(&mut self, other: Overlay) {
        for (tree, changes) in other.trees {
            for (key, change) in changes.by_key {
                self.change(tree, &key, change, 0);
            }
            self.grow(tree, changes.growth);
        }
    }

    /// Gives a key another value, or removes it. [`grow`](Overlay::grow) tells the change of the number of entries.
    pub(super) fn set(&mut self, tree: Tree, key: &[u8], value: Option<&[u8]>) {
        self.change(tree, key, value.map(Into::into), 0);
    }

    /// Changes the number of entries of a tree. This is not undone.
    pub(super) fn grow(&mut self, tree: Tree, growth: i64) {
        let of = self.trees.entry(tree).or_default();
        of.growth = of.growth.saturating_add(growth);
    }

    /// The present moment. Changes after it can be undone until [`forget`](Overlay::forget).
    pub(super) fn mark(&self) -> JournalPosition {
        JournalPosition(self.journal.len())
    }

    /// The keys that have changed since a mark.
    pub(super) fn changed_since(
        &self,
        mark: JournalPosition,
    ) -> impl Iterator<Item = (Tree, &[u8])> {
        let changed = self.journal.iter().skip(mark.0);
        changed.map(|entry| (entry.tree, &*entry.key))
    }

    /// Undoes the changes since a mark.
    pub(super) fn undo_to(&mut self, mark: JournalPosition) {
        while self.journal.len() > mark.0 {
            let Some(entry) = self.journal.pop() else {
                break;
            };
            let JournalEntry {
                tree,
                key,
                before,
                growth,
            } = entry;
            let changes = self.trees.entry(tree).or_default();
            changes.growth = changes.growth.saturating_sub(growth);
            let undone = match before {
                Some(before) => changes.by_key.insert(key.clone(), before),
                None => changes.by_key.remove(&key),
            };
            if let Some(undone) = undone {
                self.bytes -= size(&key, &undone);
            }
        }
    }

    /// Makes all changes final. All marks become invalid.
    pub(super) fn forget(&mut self) {
        for entry in self.journal.drain(..) {
            if let Some(before) = &entry.before {
                self.bytes -= size(&entry.key, before);
            }
        }
    }

    /// Removes all changes, which are stored elsewhere. All marks become invalid.
    pub(super) fn clear(&mut self) {
        *self = Overlay::default();
    }

    /// All changes, in the order of their trees and keys.
    pub(super) fn iter(&self) -> impl Iterator<Item = engine::KeyChange<'_>> {
        self.trees.iter().flat_map(|(tree, changes)| {
            let changes = changes.by_key.iter();
            changes.map(|(key, change)| (*tree, &**key, change.as_deref()))
        })
    }

    /// The changes of each tree in the order of keys, and by how much they change the number of its entries.
    pub(super) fn trees(&self) -> impl Iterator<Item = (Tree, &ChangesByKey, i64)> {
        let trees = self.trees.iter();
        trees.map(|(tree, changes)| (*tree, &changes.by_key, changes.growth))
    }

    /// The changes of a tree from `lower`, included, to `upper`, excluded, or `None` if it has no changes.
    pub(super) fn range(
        &self,
        tree: Tree,
        lower: &[u8],
        upper: &[u8],
    ) -> Option<btree_map::Range<'_, Arc<[u8]>, NewValue>> {
        let changes = &self.trees.get(&tree)?.by_key;
        Some(changes.range::<[u8], _>((Bound::Included(lower), Bound::Excluded(upper))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(overlay: &Overlay) -> Vec<(Tree, Vec<u8>, Option<Vec<u8>>)> {
        overlay
            .iter()
            .map(|(tree, key, value)| (tree, key.to_vec(), value.map(<[u8]>::to_vec)))
            .collect()
    }

    #[test]
    fn undoing_brings_back_values_removals_and_absence() {
        let mut overlay = Overlay::default();
        overlay.put(1, b"a", b"1");
        overlay.remove(1, b"b");
        let before = contents(&overlay);
        let (mark, bytes) = (overlay.mark(), overlay.bytes());
        overlay.put(1, b"a", b"2");
        overlay.put(1, b"a", b"333");
        overlay.put(1, b"b", b"4");
        overlay.put(2, b"a", b"5");
        overlay.remove(1, b"a");
        overlay.undo_to(mark);
        assert_eq!(contents(&overlay), before);
        assert_eq!(overlay.bytes(), bytes);
    }

    #[test]
    fn what_was_forgotten_is_not_undone() {
        let mut overlay = Overlay::default();
        overlay.put(1, b"a", b"1");
        overlay.forget();
        let mark = overlay.mark();
        overlay.put(1, b"a", b"2");
        overlay.undo_to(mark);
        assert_eq!(
            contents(&overlay),
            vec![(1, b"a".to_vec(), Some(b"1".to_vec()))]
        );
    }

    #[test]
    fn the_size_is_zero_again_after_everything_was_undone() {
        let mut overlay = Overlay::default();
        let mark = overlay.mark();
        overlay.put(1, b"a", b"12345");
        overlay.remove(1, b"a");
        overlay.put(1, b"b", b"1");
        overlay.undo_to(mark);
        assert!(overlay.is_empty());
        assert_eq!(overlay.bytes(), 0);
    }
}
