//! What one index can do for one query.

use std::borrow::Cow;

use super::{
    Order, Wanted,
    bounds::{Interval, KeyRange, intersect},
    constraint::{Constraint, Constraints},
    ordering::order,
};
use crate::{
    mql::Direction,
    store::embedded::{
        layout::{Tree, begin},
        schema::{Collection, Index},
    },
};

/// How many ranges the values of several `$in` may make together.
const MAX_RANGES: usize = 10_000;

/// What the entries of an index, or the documents of a collection, are ordered by.
#[derive(Debug, Clone)]
pub(in super::super) struct Source<'s> {
    pub(in super::super) tree: Tree,
    /// None for the documents themselves, which are in the order of `_id`.
    pub(in super::super) index: Option<&'s Index>,
}

impl<'s> Source<'s> {
    pub(super) fn documents(collection: &Collection) -> Source<'s> {
        Source {
            tree: collection.tree,
            index: None,
        }
    }

    pub(super) fn index(index: &'s Index) -> Source<'s> {
        Source {
            tree: index.tree,
            index: Some(index),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.index.map_or(1, |index| index.spec.keys.len())
    }

    pub(in super::super) fn field(&self, at: usize) -> (&'s str, Direction) {
        match self.index {
            None => ("_id", Direction::Ascending),
            Some(index) => (&index.spec.keys[at].0, index.spec.keys[at].1),
        }
    }

    pub(super) fn is_multikey(&self, at: usize) -> bool {
        self.index.is_some_and(|index| index.multikey[at])
    }

    /// Whether a document may have several entries.
    pub(in super::super) fn repeats(&self) -> bool {
        self.index
            .is_some_and(|index| index.multikey.contains(&true))
    }

    pub(super) fn is_unique(&self) -> bool {
        self.index.is_none_or(|index| index.spec.unique)
    }

    fn present_only(&self) -> bool {
        self.index.is_some_and(|index| index.spec.present_only)
    }

    /// Whether two fields may take their values from elements of one array. A document is found
    /// under each pair of values of one element, so the bounds of both fields do not fit together
    /// where the conditions may hold for different elements.
    fn share_array(&self, a: usize, b: usize) -> bool {
        let first = |at| self.field(at).0.split('.').next();
        self.is_multikey(a) && first(a) == first(b)
    }
}

/// A way to run a query.
#[derive(Debug, Clone)]
pub(in super::super) struct Candidate<'f, 's> {
    pub(in super::super) source: Source<'s>,
    /// What is read, in the order of the keys.
    pub(in super::super) ranges: Vec<KeyRange>,
    pub(in super::super) backward: bool,
    pub(in super::super) order: Order,
    /// The conditions of the bounds, by field.
    pub(super) bounds: Vec<(usize, Vec<&'f Constraint<'f>>)>,
    /// Each range is one whole key.
    pub(in super::super) points: bool,
    /// Every document in the ranges matches the filter.
    pub(in super::super) exact: bool,
    pub(super) rank: Rank,
}

/// How good a way is: the greater, the better. The fields are compared in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// At most one document for each range.
    unique: bool,
    /// Fields that are compared for equality.
    equalities: usize,
    /// These come first, and then the order that is asked for.
    equality_and_sort: bool,
    /// A range of values.
    range: bool,
    /// The order that is asked for.
    sorted: bool,
    /// The documents themselves, without a way round.
    direct: bool,
    /// The shorter of two keys.
    brevity: std::cmp::Reverse<usize>,
}

impl Rank {
    /// Whether fewer documents are read than there are.
    pub(super) fn is_selective(&self) -> bool {
        self.unique || self.equalities > 0 || self.range
    }

    pub(super) fn has_equality(&self) -> bool {
        self.unique || self.equalities > 0
    }
}

/// What an index can do, if it has all the documents that are wanted.
pub(super) fn candidate<'f, 's>(
    source: Source<'s>,
    constraints: &'f Constraints<'f>,
    wanted: &Wanted<'_>,
) -> Option<Candidate<'f, 's>> {
    if source.present_only() && !has_all(&source, constraints) {
        return None;
    }
    let mut bounds = Vec::new();
    let mut points: Vec<Vec<u8>> = vec![begin(source.tree)];
    let mut last = Interval::all_of();
    let mut single = 0;
    let mut equalities = 0;
    let mut range = false;
    let mut exact = 0;
    for at in 0..source.len() {
        let (_, direction) = source.field(at);
        if bounds.iter().any(|&(used, _)| source.share_array(used, at)) {
            break;
        }
        let Some((used, intervals)) = field_bounds(constraints, &source, at) else {
            break;
        };
        if points.len() > 1 && points.len() * intervals.len() > MAX_RANGES {
            break;
        }
        if !source.is_multikey(at) {
            exact += used.iter().filter(|constraint| constraint.exact).count();
        }
        bounds.push((at, used));
        if !intervals.iter().all(Interval::is_point) {
            range = true;
            last = intervals;
            break;
        }
        if intervals.len() == 1 && single == at {
            single += 1;
        }
        equalities += 1;
        points = points
            .iter()
            .flat_map(|prefix| {
                intervals.iter().map(move |interval| match interval {
                    Interval::Point(key) => {
                        let mut prefix = prefix.clone();
                        match direction {
                            Direction::Ascending => prefix.extend_from_slice(key),
                            Direction::Descending => prefix.extend(key.iter().map(|byte| !byte)),
                        }
                        prefix
                    }
                    Interval::Range(..) => prefix.clone(),
                })
            })
            .collect();
    }
    let direction = match range {
        true => source.field(equalities).1,
        false => Direction::Ascending,
    };
    let mut ranges: Vec<KeyRange> = Vec::with_capacity(points.len() * last.len());
    for prefix in &points {
        for interval in &last {
            let (lower, upper) = interval.directed(direction);
            ranges.push(KeyRange::new(prefix, &lower, &upper));
        }
    }
    ranges.sort_unstable();
    ranges.dedup();
    let (order, backward) = order(&source, single, constraints, wanted);
    let sorted = order != Order::Sort;
    let rank = Rank {
        unique: source.is_unique() && equalities == source.len(),
        equalities,
        equality_and_sort: equalities > 0 && sorted,
        range,
        sorted,
        direct: source.index.is_none(),
        brevity: std::cmp::Reverse(source.len()),
    };
    let mut candidate = Candidate {
        exact: constraints.others == 0 && exact == constraints.all.len(),
        source,
        ranges,
        backward,
        order,
        bounds,
        points: rank.unique,
        rank,
    };
    candidate.seek(single, constraints, wanted);
    Some(candidate)
}

impl Interval {
    fn all_of() -> Vec<Interval> {
        vec![Interval::all()]
    }
}

/// Whether each document that matches has entries in an index that leaves out null.
fn has_all(source: &Source<'_>, constraints: &Constraints<'_>) -> bool {
    let fields = 0..source.len();
    // Of two fields in one array, a document may have each in an element without the other.
    let parted = fields
        .clone()
        .any(|a| fields.clone().any(|b| a != b && source.share_array(a, b)));
    !parted
        && fields.clone().all(|at| {
            let (path, _) = source.field(at);
            constraints
                .all
                .iter()
                .any(|constraint| constraint.path == path && constraint.present)
        })
}

/// What the conditions on a field leave of its values.
fn field_bounds<'f>(
    constraints: &'f Constraints<'f>,
    source: &Source<'_>,
    at: usize,
) -> Option<(Vec<&'f Constraint<'f>>, Vec<Interval>)> {
    let path = source.field(at).0;
    let mut found = constraints
        .all
        .iter()
        .filter(|constraint| constraint.path == path);
    if source.is_multikey(at) {
        // Each condition may hold for another element, so that only one of them bounds the values:
        // one for values that the index has.
        let best = found
            .filter(|constraint| constraint.present || !source.present_only())
            .min_by_key(|constraint| (!constraint.is_equality(), constraint.intervals.len()))?;
        return Some((vec![best], best.intervals.clone()));
    }
    let first = found.next()?;
    let (mut used, mut intervals) = (vec![first], first.intervals.clone());
    for constraint in found {
        intervals = intersect(&intervals, &constraint.intervals);
        used.push(constraint);
    }
    Some((used, intervals))
}

/// A path for messages.
pub(super) fn quoted(path: &str) -> Cow<'_, str> {
    Cow::Owned(format!("`{path}`"))
}
