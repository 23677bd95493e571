//! The keys of unique indexes that several documents have, found in bounded memory.

use std::{
    collections::BTreeSet,
    hash::{BuildHasher, RandomState},
};

use bson::RawBson;

use odm_mql::key;

/// The hashes of keys that are compared at once: 32 MiB. Few in tests, so that there are several rounds.
const HASHES: usize = if cfg!(test) { 8 } else { 4 << 20 };

/// The maximum of repeated hashes whose keys are compared.
const REPEATED: usize = 1_000;

/// The hashes of one range after another. Each round goes through all keys, and compares the keys whose hashes are in its range, which the
/// memory limits.
#[derive(Debug, Default)]
pub(super) struct Keys {
    hasher: RandomState,
    /// The range of this round, both ends included; `None` after the last one.
    round: Option<(u64, u64)>,
    hashes: Vec<u64>,
    repeated: BTreeSet<u64>,
}

impl Keys {
    pub(super) fn new() -> Self {
        Keys {
            round: Some((0, u64::MAX)),
            ..Keys::default()
        }
    }

    /// The hash of a key of one of the indexes.
    pub(super) fn hash(&self, index: (&str, &str), key: &[RawBson]) -> u64 {
        let key: Vec<u8> = bytes(key);
        self.hasher.hash_one((index, key))
    }

    /// Adds the hash of a key of a document.
    pub(super) fn add(&mut self, hash: u64) {
        let Some((from, to)) = self.round else {
            return;
        };
        if !(from..=to).contains(&hash) {
            return;
        }
        self.hashes.push(hash);
        if self.hashes.len() >= HASHES {
            self.find_repeated();
            if let Some(&middle) = self.hashes.get(HASHES / 2) {
                self.round = Some((from, middle));
                self.hashes.truncate(HASHES / 2 + 1);
            }
        }
    }

    /// Ends a round. Returns whether there is another one.
    pub(super) fn end_round(&mut self) -> bool {
        self.find_repeated();
        self.hashes.clear();
        let after = self.round.and_then(|(_, to)| to.checked_add(1));
        self.round = after.map(|from| (from, u64::MAX));
        after.is_some()
    }

    /// The hashes that occurred more than once: of one key in several documents, or by collision of several keys.
    pub(super) fn repeated(&self) -> &BTreeSet<u64> {
        &self.repeated
    }

    fn find_repeated(&mut self) {
        self.hashes.sort_unstable();
        for pair in self.hashes.windows(2) {
            if pair[0] == pair[1] && self.repeated.len() < REPEATED {
                self.repeated.insert(pair[0]);
            }
        }
        self.hashes.dedup();
    }
}

/// A key as bytes, which are equal for equal keys.
pub(super) fn bytes(key: &[RawBson]) -> Vec<u8> {
    let values = key.iter().map(RawBson::as_raw_bson_ref);
    values.flat_map(key::of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hashes that are found to be repeated, and the number of rounds.
    fn found(hashes: &[u64]) -> (Vec<u64>, usize) {
        let mut keys = Keys::new();
        for round in 1.. {
            for &hash in hashes {
                keys.add(hash);
                assert!(keys.hashes.len() <= HASHES);
            }
            if !keys.end_round() {
                return (keys.repeated().iter().copied().collect(), round);
            }
        }
        unreachable!()
    }

    #[test]
    fn every_repeated_hash_is_found_however_many_there_are_and_wherever_they_are() {
        // Spread over the whole range, in a different order.
        let spread = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for number in [0, 1, 7, 8, 9, 100, 1_000] {
            let mut hashes: Vec<u64> = (0..number).map(spread).collect();
            assert_eq!(found(&hashes).0, [0; 0], "{number}");
            let mut repeated: Vec<u64> = (0..number).step_by(13).map(spread).collect();
            hashes.extend(&repeated);
            repeated.sort_unstable();
            let (all, rounds) = found(&hashes);
            assert_eq!(all, repeated, "{number}");
            assert_eq!(rounds == 1, hashes.len() < HASHES, "{number}: {rounds}");
        }
        assert_eq!(found(&[u64::MAX, 0, u64::MAX, 0]).0, [0, u64::MAX]);
        assert_eq!(found(&[5; 100]), (vec![5], 1));
    }
}
