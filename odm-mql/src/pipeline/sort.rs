//! `$sort` and `$sample`: stages that hold documents.

use std::{
    cmp::Ordering,
    collections::{BinaryHeap, hash_map::RandomState},
    hash::{BuildHasher, Hasher},
};

use bson::RawDocumentBuf;

use super::bounds::Memory;
use crate::{Error, Sort};

/// Documents that are being sorted, the last one first.
#[derive(Debug)]
pub(super) struct SortRun {
    sort: Sort,
    /// How many documents the stages after it take at most.
    keep: usize,
    held: BinaryHeap<SortedDocument>,
    /// The number of documents so far.
    met: u64,
    memory: Memory,
}

#[derive(Debug)]
struct SortedDocument {
    key: Vec<u8>,
    /// The first one of equal documents stays before the others.
    met: u64,
    document: RawDocumentBuf,
}

impl SortedDocument {
    fn bytes(&self) -> usize {
        self.key.len() + self.document.as_bytes().len() + size_of::<SortedDocument>()
    }
}

impl Ord for SortedDocument {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.key, self.met).cmp(&(&other.key, other.met))
    }
}

impl PartialOrd for SortedDocument {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SortedDocument {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for SortedDocument {}

impl SortRun {
    pub(super) fn new(sort: Sort, keep: usize, memory_limit: usize) -> SortRun {
        SortRun {
            sort,
            keep,
            held: BinaryHeap::new(),
            met: 0,
            memory: Memory::new("$sort", memory_limit),
        }
    }

    pub(super) fn add(&mut self, document: RawDocumentBuf) -> Result<(), Error> {
        let key = self.sort.encode_key(&document);
        let met = self.met;
        self.met += 1;
        if self.held.len() >= self.keep {
            // A document of the same key came before.
            let comes_after = |last: &SortedDocument| last.key <= key;
            if self.held.peek().is_none_or(comes_after) {
                return Ok(());
            }
            let last = self.held.pop();
            self.memory
                .give_back(last.as_ref().map_or(0, SortedDocument::bytes));
        }
        let sorted = SortedDocument { key, met, document };
        self.memory.take(sorted.bytes())?;
        self.held.push(sorted);
        Ok(())
    }

    /// The documents in their order.
    pub(super) fn finish(&mut self) -> impl Iterator<Item = RawDocumentBuf> + use<> {
        let sorted = std::mem::take(&mut self.held).into_sorted_vec();
        sorted.into_iter().map(|sorted| sorted.document)
    }
}

/// A random sample of the documents so far, each with the same chance.
#[derive(Debug)]
pub(super) struct SampleRun {
    size: usize,
    held: Vec<RawDocumentBuf>,
    met: u64,
    random: Random,
    memory: Memory,
}

impl SampleRun {
    pub(super) fn new(size: u64, memory_limit: usize) -> SampleRun {
        SampleRun {
            size: usize::try_from(size).unwrap_or(usize::MAX),
            held: Vec::new(),
            met: 0,
            random: Random::new(),
            memory: Memory::new("$sample", memory_limit),
        }
    }

    pub(super) fn add(&mut self, document: RawDocumentBuf) -> Result<(), Error> {
        let bytes =
            |document: &RawDocumentBuf| document.as_bytes().len() + size_of::<RawDocumentBuf>();
        self.met += 1;
        let added = bytes(&document);
        if self.held.len() < self.size {
            self.held.push(document);
        } else {
            let at = usize::try_from(self.random.below(self.met)).unwrap_or(usize::MAX);
            let Some(place) = self.held.get_mut(at) else {
                return Ok(());
            };
            let replaced = std::mem::replace(place, document);
            self.memory.give_back(bytes(&replaced));
        }
        self.memory.take(added)
    }

    /// The documents in a random order.
    pub(super) fn finish(&mut self) -> impl Iterator<Item = RawDocumentBuf> + use<> {
        let mut sample = std::mem::take(&mut self.held);
        for left in (2..=sample.len()).rev() {
            let at = self.random.below(left as u64) as usize;
            sample.swap(at, left - 1);
        }
        sample.into_iter()
    }
}

/// Random numbers for a sample: the generator SplitMix64, with a start from the operating system.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn new() -> Random {
        Random(RandomState::new().build_hasher().finish())
    }

    /// A number below a bound, which is not 0.
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        ((u128::from(bits) * u128::from(bound)) >> 64) as u64
    }
}
