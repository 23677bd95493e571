//! A filter of keys, which tells of most keys that a table does not have them, without a search.
//!
//! A read by a key asks it first: few of the documents that are read have changed since the last checkpoint, and a search in the table costs
//! as much as the one in the engine. Bloom, "Space/time trade-offs in hash coding with allowable errors" (1970), with one hash.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::layout::Tree;

/// The number of bits, a power of two: of a full table of 150,000 changes, they let 7 % of the absent keys through.
const BITS: usize = 1 << 21;

pub(super) struct KeyFilter {
    bits: Box<[AtomicU64]>,
    hasher: ahash::RandomState,
}

impl Default for KeyFilter {
    fn default() -> KeyFilter {
        KeyFilter {
            bits: (0..BITS / 64).map(|_| AtomicU64::new(0)).collect(),
            hasher: ahash::RandomState::new(),
        }
    }
}

impl KeyFilter {
    /// The word of a key, and its bit in there.
    fn place(&self, tree: Tree, key: &[u8]) -> (&AtomicU64, u64) {
        let hash = self.hasher.hash_one((tree, key));
        let bit = hash as usize % BITS;
        (&self.bits[bit / 64], 1 << (bit % 64))
    }

    pub(super) fn add(&self, tree: Tree, key: &[u8]) {
        let (word, bit) = self.place(tree, key);
        // Readers get the state with the key after this, through a lock.
        word.fetch_or(bit, Ordering::Relaxed);
    }

    /// `false` if the key was never added.
    pub(super) fn may_have(&self, tree: Tree, key: &[u8]) -> bool {
        let (word, bit) = self.place(tree, key);
        word.load(Ordering::Relaxed) & bit != 0
    }
}

#[cfg(test)]
mod tests {
    use super::KeyFilter;

    #[test]
    fn a_filter_lets_all_its_keys_through_and_few_others() {
        let filter = KeyFilter::default();
        let key = |n: u32| n.to_be_bytes();
        (0..20_000).for_each(|n| filter.add(n % 3, &key(n)));
        assert!((0..20_000).all(|n| filter.may_have(n % 3, &key(n))));
        let of_others = (0..20_000).filter(|n| filter.may_have(n % 3 + 3, &key(*n)));
        assert!(of_others.count() < 20_000 / 20);
    }
}
