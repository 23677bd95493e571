//! Cycles of derived fields, for which no order of computation exists.
//!
//! Derived fields are the nodes, and each path that a definition reads is a dependency of the field that it defines. References are never
//! derived, so the references that a definition follows cannot close a cycle, and a kind that reads nothing else, as a count, is no node.
//! Filters are functions, and recursive values have infinitely many paths: the catalog looks for cycles through these when it is built.
//!
//! The compiler runs this for each database, and slowly. So paths and collections are compared by
//! their hashes, collections are looked up in a table, and each definition is visited once, without
//! recursion: a chain may be longer than the compiler's stack for constants.

mod message;

pub(super) use message::MessageText;
use message::message;

use crate::model::{DerivedReads, Outline, PathHash, ShownNames};

/// A model of a database.
#[derive(Clone, Copy)]
pub struct ModelEntry {
    pub(super) collection: &'static str,
    /// The hash of the collection.
    pub(super) hash: u64,
    pub(super) outline: &'static Outline,
}

impl ModelEntry {
    /// The entry of a type that is no document.
    pub(super) const NONE: ModelEntry = ModelEntry {
        collection: "",
        hash: 0,
        outline: Outline::EMPTY,
    };
}

/// Checks that no derived field is computed from itself, directly or indirectly.
#[track_caller]
pub const fn assert_acyclic(models: &[ModelEntry]) {
    let mut count = 0;
    let mut i = 0;
    while i < models.len() {
        count += definitions_in(models[i].outline);
        i += 1;
    }
    // The smallest arrays that hold them: at compile time, a length cannot follow from a value.
    match count {
        0 => {}
        1..=16 => search::<16, 32>(models),
        17..=128 => search::<128, 256>(models),
        129..=1024 => search::<1024, 2048>(models),
        1025..=4096 => search::<4096, 8192>(models),
        4097..=16384 => search::<16384, 32768>(models),
        16385..=65536 => search::<65536, 131072>(models),
        _ => panic!("a database has more than 65536 derived fields"),
    }
}

const fn definitions_in(outline: &Outline) -> usize {
    let mut count = outline.derived.len();
    let mut i = 0;
    while i < outline.embedded.len() {
        count += definitions_in(outline.embedded[i].2);
        i += 1;
    }
    count
}

#[track_caller]
const fn search<const N: usize, const T: usize>(models: &[ModelEntry]) {
    let mut graph = CycleGraph::<N, T>::new();
    let mut i = 0;
    while i < models.len() {
        let start = graph.len;
        graph.add(models[i].outline, PathHash::EMPTY);
        if graph.len > start {
            graph.enter(models[i].hash, start);
        }
        i += 1;
    }
    let mut trail = Trail {
        steps: [TrailStep::START; N],
        len: 0,
    };
    let mut node = 0;
    while node < graph.len {
        if let Some(start) = graph.visit(&mut trail, node) {
            panic!("{}", message(models, &trail, start).as_str());
        }
        node += 1;
    }
}

/// A path that a definition reads.
struct PathRead {
    /// The hash of the collection.
    collection: u64,
    path: PathHash,
}

/// The paths that a definition reads, by number.
const fn read(reads: &DerivedReads, number: usize) -> Option<PathRead> {
    let path = if number < reads.paths.len() {
        reads.paths[number]
    } else {
        match reads.names {
            Some(names) => match name(names, number - reads.paths.len()) {
                Ok(hash) => PathHash::EMPTY.then(hash),
                Err(_) => return None,
            },
            // The whole document, which includes all of its paths.
            None if number == reads.paths.len() => PathHash::EMPTY,
            None => return None,
        }
    };
    Some(PathRead {
        collection: reads.collection,
        path,
    })
}

/// The hash of a stored name by its number, or the count of names if there are not as many.
const fn name(names: &ShownNames, number: usize) -> Result<u64, usize> {
    let mut before = names.own.len();
    if number < before {
        return Ok(names.own[number].hash);
    }
    let mut i = 0;
    while i < names.flattened.len() {
        match name(names.flattened[i], number - before) {
            Ok(hash) => return Ok(hash),
            Err(count) => before += count,
        }
        i += 1;
    }
    Err(before)
}

/// A derived field.
#[derive(Clone, Copy)]
struct CycleNode {
    reads: &'static DerivedReads,
    path: PathHash,
    seen: Visit,
}

/// The state of the search at a node.
#[derive(Clone, Copy)]
enum Visit {
    Never,
    /// It is on the trail.
    Now,
    /// It is in no cycle.
    Done,
}

/// The nodes of one collection, in a table by its hash.
#[derive(Clone, Copy)]
struct Slot {
    hash: u64,
    start: usize,
    /// Zero in an empty slot.
    end: usize,
}

/// All derived fields, grouped by model.
struct CycleGraph<const N: usize, const T: usize> {
    nodes: [CycleNode; N],
    len: usize,
    /// At most half full, with a power of two as its length.
    table: [Slot; T],
}

impl<const N: usize, const T: usize> CycleGraph<N, T> {
    const fn new() -> Self {
        const NONE: &DerivedReads = &DerivedReads {
            collection: 0,
            paths: &[],
            names: None,
        };
        CycleGraph {
            nodes: [CycleNode {
                reads: NONE,
                path: PathHash::EMPTY,
                seen: Visit::Never,
            }; N],
            len: 0,
            table: [Slot {
                hash: 0,
                start: 0,
                end: 0,
            }; T],
        }
    }

    const fn push(&mut self, reads: &'static DerivedReads, path: PathHash) {
        self.nodes[self.len].reads = reads;
        self.nodes[self.len].path = path;
        self.len += 1;
    }

    const fn add(&mut self, outline: &'static Outline, prefix: PathHash) {
        let mut i = 0;
        while i < outline.derived.len() {
            let (_, hash, reads) = &outline.derived[i];
            self.push(reads, prefix.then(*hash));
            i += 1;
        }
        let mut i = 0;
        while i < outline.embedded.len() {
            let (name, hash, inner) = outline.embedded[i];
            let path = if name.is_empty() {
                prefix
            } else {
                prefix.then(hash)
            };
            self.add(inner, path);
            i += 1;
        }
    }

    /// Enters the nodes from `start` on as the nodes of a collection.
    const fn enter(&mut self, hash: u64, start: usize) {
        let mut at = hash as usize % T;
        while self.table[at].end > 0 {
            at = (at + 1) % T;
        }
        self.table[at] = Slot {
            hash,
            start,
            end: self.len,
        };
    }

    /// The nodes of a collection. A collection that the database lacks is reported elsewhere.
    const fn nodes_of(&self, hash: u64) -> (usize, usize) {
        let mut at = hash as usize % T;
        while self.table[at].end > 0 {
            if self.table[at].hash == hash {
                return (self.table[at].start, self.table[at].end);
            }
            at = (at + 1) % T;
        }
        (0, 0)
    }

    /// Visits the nodes that a node reads, directly or indirectly. Returns the start of a cycle, which ends with the trail.
    const fn visit(&mut self, trail: &mut Trail<N>, node: usize) -> Option<usize> {
        if !matches!(self.nodes[node].seen, Visit::Never) {
            return None;
        }
        self.nodes[node].seen = Visit::Now;
        trail.len = 0;
        trail.push(node);
        while trail.len > 0 {
            let step = &mut trail.steps[trail.len - 1];
            let node = step.node;
            if step.next == step.end {
                let Some(read) = read(self.nodes[node].reads, step.read) else {
                    self.nodes[node].seen = Visit::Done;
                    trail.len -= 1;
                    continue;
                };
                step.read += 1;
                (step.next, step.end) = self.nodes_of(read.collection);
                step.path = read.path;
                continue;
            }
            let next = step.next;
            step.next += 1;
            if !step.path.overlaps(&self.nodes[next].path) {
                continue;
            }
            match self.nodes[next].seen {
                Visit::Never => {
                    self.nodes[next].seen = Visit::Now;
                    trail.push(next);
                }
                Visit::Now => {
                    let mut start = 0;
                    while trail.steps[start].node != next {
                        start += 1;
                    }
                    return Some(start);
                }
                Visit::Done => {}
            }
        }
        None
    }
}

/// The nodes from the start of a search, each followed by a node that it reads.
struct Trail<const N: usize> {
    steps: [TrailStep; N],
    len: usize,
}

#[derive(Clone, Copy)]
struct TrailStep {
    node: usize,
    /// The next of the paths that the node reads.
    read: usize,
    /// The path before that, and the nodes that are still to be compared with it.
    path: PathHash,
    next: usize,
    end: usize,
}

impl TrailStep {
    const START: TrailStep = TrailStep {
        node: 0,
        read: 0,
        path: PathHash::EMPTY,
        next: 0,
        end: 0,
    };
}

impl<const N: usize> Trail<N> {
    const fn push(&mut self, node: usize) {
        self.steps[self.len] = TrailStep {
            node,
            ..TrailStep::START
        };
        self.len += 1;
    }
}

#[cfg(test)]
mod tests;
