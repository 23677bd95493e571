//! Collections of keys of `_id`, with bounded memory.

use std::{
    cmp::Ordering,
    collections::{BinaryHeap, HashSet},
};

use odm_mql::Direction;
use odm_store::{Error, ErrorKind, Result};

/// A list of keys of `_id`, in one piece of memory.
#[derive(Debug, Default)]
pub(super) struct Ids {
    bytes: Vec<u8>,
    /// The begin and the end of each key.
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

    pub(super) fn get(&self, at: usize) -> Option<&[u8]> {
        self.spans
            .get(at)
            .map(|&(start, end)| &self.bytes[start..end])
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
    }

    /// Sorts the keys in this direction, and removes duplicates.
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

/// The set of documents that a query has found.
#[derive(Debug, Default)]
pub(super) struct Seen {
    ids: HashSet<Box<[u8]>>,
    bytes: usize,
}

impl Seen {
    /// Adds a key, and returns whether it is new.
    pub(super) fn add(&mut self, id: &[u8], limit: usize) -> Result<bool> {
        if self.ids.contains(id) {
            return Ok(false);
        }
        self.ids.insert(id.into());
        // The buckets of the set take about as much again.
        self.bytes += id.len() + 2 * size_of::<Box<[u8]>>();
        if self.bytes > limit {
            Err(too_large(limit))
        } else {
            Ok(true)
        }
    }
}

/// The first documents of an order, at most `count`.
#[derive(Debug, Default)]
pub(super) struct TopN {
    heap: BinaryHeap<Sorted>,
    /// `None` for all documents.
    count: Option<usize>,
    bytes: usize,
    limit: usize,
}

/// A document in an order: its sort key, and the key of its `_id`.
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
            // A lesser key replaces the greatest one.
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

/// The error of an aggregate whose groups take more memory.
#[cold]
pub(super) fn too_many_groups(collection: &str, limit: usize) -> Error {
    let message = format!(
        "too many groups: those of `{collection}` need more than {limit} bytes of memory; group by fewer values, \
         filter first, or raise `sort_memory`"
    );
    Error::new(ErrorKind::Limit, message).at(collection, None, None)
}

#[cold]
fn too_large(limit: usize) -> Error {
    Error::new(
        ErrorKind::Limit,
        format!(
            "sort too large: the result needs more than {limit} bytes of memory; add an index for \
             the order, a limit, or raise `sort_memory`"
        ),
    )
}
