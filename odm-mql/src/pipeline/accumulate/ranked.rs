//! A bounded number of values by their order: `$topN`, `$bottomN`, `$maxN`, `$minN` and their like.

use std::collections::BTreeMap;

use bson::{RawArrayBuf, RawBson};

use super::kept::Peak;
use crate::group::bytes;

/// Which values are kept when there are more than a state keeps, and in which order they are a result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rank {
    /// The least values, in ascending order.
    Least,
    /// The greatest values, in ascending order.
    Greatest,
    /// The greatest values, in descending order.
    GreatestFirst,
}

/// Values with encoded keys, which order them. Values of equal keys are in the order in which they came, and none takes the place of
/// another.
#[derive(Debug)]
pub(in crate::pipeline) struct RankedValues {
    rank: Rank,
    most: usize,
    values: BTreeMap<(Vec<u8>, u64), RawBson>,
    /// The number of values that were kept so far.
    met: u64,
    peak: Peak,
}

impl RankedValues {
    /// No values yet, of which at most so many are kept, and at least one.
    pub(super) fn new(rank: Rank, most: usize) -> RankedValues {
        RankedValues {
            rank,
            most,
            values: BTreeMap::new(),
            met: 0,
            peak: Peak::default(),
        }
    }

    /// Adds a value, and returns the memory that it takes.
    pub(super) fn add(&mut self, key: Vec<u8>, value: RawBson) -> usize {
        let mut freed = 0;
        if self.values.len() >= self.most {
            let worst = match self.rank {
                Rank::Least => self.values.last_entry(),
                Rank::Greatest | Rank::GreatestFirst => self.values.first_entry(),
            };
            let Some(worst) = worst.filter(|worst| match self.rank {
                Rank::Least => key < worst.key().0,
                Rank::Greatest | Rank::GreatestFirst => key > worst.key().0,
            }) else {
                return 0;
            };
            let ((key, _), value) = worst.remove_entry();
            freed = memory(&key, &value);
        }
        let taken = memory(&key, &value);
        self.values.insert((key, self.met), value);
        self.met += 1;
        self.peak.change(taken, freed)
    }

    pub(super) fn into_array(self) -> RawArrayBuf {
        let values = self.values.into_values();
        match self.rank {
            Rank::Least | Rank::Greatest => values.collect(),
            Rank::GreatestFirst => values.rev().collect(),
        }
    }

    /// The first of the values.
    pub(super) fn into_first(self) -> Option<RawBson> {
        self.values.into_values().next()
    }
}

/// The memory of a value with its key.
fn memory(key: &[u8], value: &RawBson) -> usize {
    key.len() + bytes(value.as_raw_bson_ref()) + 2 * size_of::<((Vec<u8>, u64), RawBson)>()
}
