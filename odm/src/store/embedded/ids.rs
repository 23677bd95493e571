//! Collections of the keys of `_id`, of bounded memory.

use std::{
    cmp::Ordering,
    collections::{BinaryHeap, HashSet},
};

use crate::{
    error::{Error, ErrorKind, Result},
    mql::Direction,
};

/// Keys of `_id` in one piece of memory.
#[derive(Debug, Default)]
pub(super) struct Ids {
    bytes: Vec<u8>,
    /// Where each lies.
    spans: Vec<(usize, usize)>,
}

impl Ids {
    pub(super) fn push(&mut self, id: &[u8], limit: usize) -> Result<()> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(id);
        self.spans.push((start, self.bytes.len()));
        match self.bytes.len() + self.spans.len() * size_of::<(usize, usize)>() > limit {
            true => Err(too_large(limit)),
            false => Ok(()),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
    }

    /// Puts them in this order, each once.
    pub(super) fn sort(&mut self, direction: Direction) {
        let bytes = &self.bytes;
        let id = |&(start, end): &(usize, usize)| &bytes[start..end];
        self.spans.sort_unstable_by(|a, b| id(a).cmp(id(b)));
        self.spans.dedup_by(|a, b| id(a) == id(b));
        if direction == Direction::Descending {
            self.spans.reverse();
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.spans
            .iter()
            .map(|&(start, end)| &self.bytes[start..end])
    }
}

/// Which documents have been found already.
#[derive(Debug, Default)]
pub(super) struct Seen {
    ids: HashSet<Box<[u8]>>,
    bytes: usize,
}

impl Seen {
    /// Whether it is new.
    pub(super) fn add(&mut self, id: &[u8], limit: usize) -> Result<bool> {
        if self.ids.contains(id) {
            return Ok(false);
        }
        self.ids.insert(id.into());
        // A set keeps about as much again as it holds.
        self.bytes += id.len() + 2 * size_of::<Box<[u8]>>();
        if self.bytes > limit {
            Err(too_large(limit))
        } else {
            Ok(true)
        }
    }
}

/// The first documents of an order.
#[derive(Debug)]
pub(super) struct TopN {
    heap: BinaryHeap<Sorted>,
    /// How many are wanted.
    count: Option<usize>,
    bytes: usize,
    limit: usize,
}

/// The key of a document in an order, and that of its `_id`.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sorted {
    key: Vec<u8>,
    pub(super) id: Box<[u8]>,
}

impl TopN {
    pub(super) fn new(count: Option<u64>, limit: usize) -> Self {
        let count = count.and_then(|count| usize::try_from(count).ok());
        TopN {
            heap: BinaryHeap::new(),
            count,
            bytes: 0,
            limit,
        }
    }

    pub(super) fn push(&mut self, key: Vec<u8>, id: &[u8]) -> Result<()> {
        if self.count == Some(self.heap.len()) {
            // The greatest of those that are kept makes place for a lesser one.
            match self.heap.peek() {
                Some(last) if last.key.as_slice().cmp(&key) == Ordering::Greater => {}
                _ => return Ok(()),
            }
            if let Some(last) = self.heap.pop() {
                self.bytes -= size(&last);
            }
        }
        let sorted = Sorted { key, id: id.into() };
        self.bytes += size(&sorted);
        self.heap.push(sorted);
        if self.bytes > self.limit {
            Err(too_large(self.limit))
        } else {
            Ok(())
        }
    }

    pub(super) fn into_sorted(self) -> Vec<Sorted> {
        self.heap.into_sorted_vec()
    }
}

fn size(sorted: &Sorted) -> usize {
    size_of::<Sorted>() + sorted.key.capacity() + sorted.id.len()
}

#[cold]
fn too_large(limit: usize) -> Error {
    Error::new(
        ErrorKind::Limit,
        format!(
            "the result cannot be sorted in {limit} bytes of memory: an index that gives the \
             order, a limit, or a larger `sort_memory` would help"
        ),
    )
}
