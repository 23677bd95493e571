//! Access paths: one index, or the documents of a collection, with the ranges that a query reads.

use std::{borrow::Cow, cmp::Reverse};

use odm_mql::{Direction, Test, key::Types, path::position, steps};
use odm_store::{IndexFilter, IndexSpec};

use super::{
    OrderSpec, SortStrategy,
    bounds::{Interval, KeyRange, contains, intersection},
    constraint::{Constraint, Constraints},
    ordering,
    texts::Texts,
};
use crate::{
    layout::{Tree, new_key},
    schema::{Collection, Index},
    uses::Uses,
};

/// The greatest number of ranges that the values of several `$in` may make together.
const MAX_RANGES: usize = 10_000;

/// The greatest number of ranges that are read at the same time, to be merged.
pub(super) const MAX_MERGED: usize = 1000;

/// A tree of the store that can be read in the order of its keys.
#[derive(Debug, Clone)]
pub(in super::super) struct Source<'s> {
    pub(in super::super) tree: Tree,
    /// `None` for the documents themselves, which are in the order of `_id`.
    pub(in super::super) index: Option<&'s Index>,
    /// The approximate number of keys for a document.
    keys: u64,
    pub(super) uses: &'s Uses,
}

impl<'s> Source<'s> {
    pub(super) fn documents(collection: &'s Collection) -> Source<'s> {
        Source {
            tree: collection.tree,
            index: None,
            keys: 1,
            uses: &collection.uses,
        }
    }

    pub(super) fn index(index: &'s Index, keys: u64) -> Source<'s> {
        Source {
            tree: index.tree,
            index: Some(index),
            keys,
            uses: &index.uses,
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

    /// The form of texts in its keys.
    pub(super) fn texts(&self) -> Texts<'s> {
        match self.index.map(|index| &index.spec) {
            Some(IndexSpec {
                collation: Some(collation),
                ..
            }) => Texts::Collated(collation),
            Some(index) if index.case_insensitive => Texts::Folded,
            _ => Texts::AsTheyAre,
        }
    }

    /// Whether its keys distinguish the values at these paths.
    pub(super) fn has_fields(&self, paths: &[&str]) -> bool {
        let has_field = |path: &&str| self.position(path).is_some();
        paths.is_empty() || self.texts() == Texts::AsTheyAre && paths.iter().all(has_field)
    }

    /// The position of a field.
    pub(in super::super) fn position(&self, path: &str) -> Option<usize> {
        (0..self.len()).find(|&at| self.field(at).0 == path)
    }

    /// The number of parts of a key: the fields, and `_id` if it follows them.
    fn len_with_id(&self) -> usize {
        self.len() + usize::from(!self.is_unique())
    }

    pub(super) fn is_multikey(&self, at: usize) -> bool {
        self.index.is_some_and(|index| index.multikey[at])
    }

    /// The types that the values of a field ever had.
    pub(in super::super) fn types(&self, at: usize) -> Types {
        self.index.map_or(Types::ANY, |index| index.types[at])
    }

    /// Whether a test of a field sees exactly the values that the index has of it. In an array within an array, which a path with a
    /// position can name, it sees more or less than the elements.
    fn has_all_values(&self, at: usize) -> bool {
        let has_position = |path: &str| path.split('.').any(|part| position(part).is_some());
        !self.is_multikey(at) || !has_position(self.field(at).0)
    }

    /// Whether a document may have several entries.
    pub(in super::super) fn repeats(&self) -> bool {
        self.index
            .is_some_and(|index| index.multikey.contains(&true))
    }

    pub(super) fn is_unique(&self) -> bool {
        self.index.is_none_or(|index| index.spec.unique)
    }

    fn filter(&self) -> Option<&'s IndexFilter> {
        self.index?.spec.filter.as_ref()
    }

    /// Whether all its documents fulfill a constraint, since they match its filter.
    fn fulfills(&self, constraint: &Constraint<'_>) -> bool {
        let filter = self.filter().filter(|_| constraint.is_plain());
        filter.is_some_and(|filter| filter.implies(&constraint.path, constraint.test))
    }

    fn present_only(&self) -> bool {
        self.index.is_some_and(|index| index.spec.present_only)
    }

    /// Whether two fields may take their values from elements of one array. A document is found under each pair of values of one element,
    /// so the bounds of both fields cannot be combined if different elements may fulfill the conditions.
    fn share_array(&self, a: usize, b: usize) -> bool {
        let first = |at| self.field(at).0.split('.').next();
        self.is_multikey(a) && first(a) == first(b)
    }
}

/// A way to find the documents of a query.
#[derive(Debug, Clone)]
pub(in super::super) struct AccessPath<'f, 's> {
    pub(in super::super) source: Source<'s>,
    /// The ranges to read, in the order of the keys.
    pub(in super::super) ranges: Vec<KeyRange>,
    pub(in super::super) backward: bool,
    pub(in super::super) order: SortStrategy,
    /// The number of fields before the fields that give the order.
    pub(in super::super) order_from: usize,
    /// Whether these fields have other values in each range, so that the ranges must be merged.
    pub(in super::super) is_merged: bool,
    /// The tests behind the bounds, each with its field.
    pub(super) bounds: Vec<(usize, &'f Test)>,
    /// The tests of each key within the ranges.
    key_tests: Vec<KeyTest>,
    /// Whether each range is one whole key.
    pub(in super::super) points: bool,
    /// Whether every document with a key in the ranges that passes the tests matches the filter.
    pub(in super::super) exact: bool,
    pub(super) rank: Rank,
}

/// A test of a field that the ranges do not bound.
#[derive(Debug, Clone)]
struct KeyTest {
    field: usize,
    /// The values that pass, in ascending order.
    intervals: Vec<Interval>,
}

impl AccessPath<'_, '_> {
    /// Whether a key within the ranges passes the tests. `None` if it cannot be read.
    pub(in super::super) fn passes(&self, key: &[u8]) -> Option<bool> {
        for test in &self.key_tests {
            let begin = ordering::fields_len(&self.source, key, test.field)?;
            let end = ordering::fields_len(&self.source, key, test.field + 1)?;
            let value = key.get(begin..end)?;
            let passes = match self.source.field(test.field).1 {
                Direction::Ascending => contains(&test.intervals, value),
                Direction::Descending => {
                    let value: Vec<u8> = value.iter().map(|byte| !byte).collect();
                    contains(&test.intervals, &value)
                }
            };
            if !passes {
                return Some(false);
            }
        }
        Some(true)
    }
}

/// The quality of an access path: the greater, the better. The fields are compared in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// Each range has one document at most.
    unique: bool,
    /// How many fields are compared for equality.
    equalities: usize,
    /// Fields are compared for equality, and the documents of each value are in the requested order.
    equality_and_sort: bool,
    /// A field is bounded by a range.
    range: bool,
    /// The first documents are found in the requested order, and no more are requested.
    limited: bool,
    /// It has only the documents that match a filter, and so fewer keys than there are documents.
    partial: bool,
    /// The documents are in the requested order.
    sorted: bool,
    /// Fewer keys for a document mean fewer reads for the same documents.
    keys: Reverse<u64>,
    /// The documents are read without an index.
    direct: bool,
    /// How many fields are tested in the keys.
    tested: usize,
    /// The shorter of two keys is better.
    brevity: Reverse<usize>,
}

impl Rank {
    /// Whether the access path reads one document at most for each of its ranges.
    pub(super) fn is_unique(&self) -> bool {
        self.unique
    }

    /// Whether the access path reads a part of the documents only.
    pub(super) fn is_selective(&self) -> bool {
        self.unique || self.equalities > 0 || self.range
    }
}

/// Returns the access path through a source, or `None` if the source lacks documents that may match.
pub(super) fn access_path<'f, 's>(
    source: Source<'s>,
    constraints: &Constraints<'f>,
    wanted: &OrderSpec<'_>,
) -> Option<AccessPath<'f, 's>> {
    steps::many(1 + constraints.all.len());
    if source.present_only() && !has_all(&source, constraints) {
        return None;
    }
    let filter = source.filter();
    if filter.is_some_and(|filter| !filter.follows_from(constraints.tests())) {
        return None;
    }
    let key_bounds = KeyBounds::new(&source, constraints);
    let ranges = key_bounds.ranges(&source);
    let (single, equalities) = (key_bounds.single, key_bounds.equalities);
    let mut order_from = single;
    let (mut order, mut backward) = ordering::order(&source, single, single, constraints, wanted);
    if !order.is_by_index() && wanted.is_worth_merging() && ranges.len() <= MAX_MERGED {
        let merged = ordering::order(&source, equalities, single, constraints, wanted);
        if merged.0.is_by_index() && equalities < source.len_with_id() {
            (order, backward) = merged;
            order_from = equalities;
        }
    }
    let (equalities, sorted) = (key_bounds.equalities, order != SortStrategy::FullSort);
    let rank = Rank {
        unique: source.is_unique() && equalities == source.len(),
        equalities,
        equality_and_sort: equalities > 0 && sorted,
        range: key_bounds.range.is_some(),
        limited: wanted.is_limited && order.is_by_index(),
        partial: filter.is_some() && source.keys == 1,
        sorted,
        keys: Reverse(source.keys),
        direct: source.index.is_none(),
        tested: key_bounds.tests.len(),
        brevity: Reverse(source.len()),
    };
    let all = constraints.all.iter();
    let fulfilled = all.filter(|one| source.fulfills(one)).count();
    let mut access = AccessPath {
        exact: constraints.others == 0 && key_bounds.exact + fulfilled == constraints.all.len(),
        ranges,
        is_merged: order_from > single,
        order_from,
        source,
        backward,
        order,
        bounds: key_bounds.used,
        key_tests: key_bounds.tests,
        points: rank.unique,
        rank,
    };
    access.seek(key_bounds.single, constraints, wanted);
    Some(access)
}

/// The bounds that constraints give to the keys of a source: equality of the first fields, and then
/// perhaps a range.
struct KeyBounds<'f> {
    /// The tests that are used, each with its field.
    used: Vec<(usize, &'f Test)>,
    /// The beginnings of the keys, one for each combination of values of the fields that are
    /// compared for equality.
    prefixes: Vec<Vec<u8>>,
    equalities: usize,
    /// How many of these fields, from the first on, have one value.
    single: usize,
    /// The values of the next field, if it is bounded.
    range: Option<Vec<Interval>>,
    /// The tests of the keys within the bounds.
    tests: Vec<KeyTest>,
    /// How many constraints, except the ones that the source fulfills, are fulfilled by all keys that are within the bounds and pass the
    /// tests.
    exact: usize,
}

impl<'f> KeyBounds<'f> {
    fn new(source: &Source<'_>, constraints: &Constraints<'f>) -> Self {
        let mut bounds = KeyBounds {
            used: Vec::new(),
            prefixes: vec![new_key()],
            equalities: 0,
            single: 0,
            range: None,
            tests: Vec::new(),
            exact: 0,
        };
        // Whether all fields before have bounds.
        let mut is_bounded = true;
        for at in 0..source.len() {
            let shares_array = |&(used, _): &(usize, _)| source.share_array(used, at);
            is_bounded &= bounds.range.is_none() && !bounds.used.iter().any(shares_array);
            // If a document has several keys, another one may pass.
            if !is_bounded && source.repeats() {
                break;
            }
            let Some(field) = FieldBounds::new(constraints, source, at) else {
                is_bounded = false;
                continue;
            };
            let prefixes = bounds.prefixes.len();
            is_bounded &= prefixes <= 1 || prefixes * field.intervals.len() <= MAX_RANGES;
            if is_bounded {
                if source.has_all_values(at) {
                    bounds.exact += field.exact;
                }
                let tests = field.tests.into_iter().map(|test| (at, test));
                bounds.used.extend(tests);
                bounds.add_field(at, field.intervals, source.field(at).1);
            } else if !source.repeats() {
                bounds.exact += field.exact;
                bounds.tests.push(KeyTest {
                    field: at,
                    intervals: field.intervals,
                });
            }
        }
        bounds
    }

    fn add_field(&mut self, at: usize, intervals: Vec<Interval>, direction: Direction) {
        let points: Option<Vec<&[u8]>> = intervals.iter().map(Interval::as_point).collect();
        let Some(points) = points else {
            self.range = Some(intervals);
            return;
        };
        if points.len() == 1 && self.single == at {
            self.single += 1;
        }
        self.equalities += 1;
        let extended = |prefix: &Vec<u8>, point: &[u8]| {
            let mut prefix = prefix.clone();
            match direction {
                Direction::Ascending => prefix.extend_from_slice(point),
                Direction::Descending => prefix.extend(point.iter().map(|byte| !byte)),
            }
            prefix
        };
        self.prefixes = self
            .prefixes
            .iter()
            .flat_map(|prefix| points.iter().map(move |point| extended(prefix, point)))
            .collect();
    }

    /// The ranges of keys within the bounds, in ascending order.
    fn ranges(&self, source: &Source<'_>) -> Vec<KeyRange> {
        let all = [Interval::all()];
        let (intervals, direction) = match &self.range {
            Some(intervals) => (&**intervals, source.field(self.equalities).1),
            None => (&all[..], Direction::Ascending),
        };
        steps::many(self.prefixes.len() * intervals.len());
        let mut ranges = Vec::with_capacity(self.prefixes.len() * intervals.len());
        for prefix in &self.prefixes {
            for interval in intervals {
                let (lower, upper) = interval.directed(direction);
                ranges.push(KeyRange::new(prefix, &lower, &upper));
            }
        }
        ranges.sort_unstable();
        ranges.dedup();
        ranges
    }
}

/// Whether each matching document has entries in an index that leaves out null.
fn has_all(source: &Source<'_>, constraints: &Constraints<'_>) -> bool {
    let fields = 0..source.len();
    // If two fields are in one array, a document may have each in an element without the other.
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

/// The bounds of a field of a source.
struct FieldBounds<'f> {
    /// The tests that are used.
    tests: Vec<&'f Test>,
    /// How many of the tests, except the ones that the source fulfills, pass exactly the values within the bounds.
    exact: usize,
    intervals: Vec<Interval>,
}

impl<'f> FieldBounds<'f> {
    /// The values that the constraints on a field allow. `None` if no constraint bounds it.
    fn new(constraints: &Constraints<'f>, source: &Source<'_>, at: usize) -> Option<Self> {
        let path = source.field(at).0;
        let on_path = constraints.all.iter().filter(|one| one.path == path);
        let found = on_path.filter_map(|one| Some((one, one.bounds(source.texts())?)));
        if source.is_multikey(at) {
            // Different elements may fulfill the constraints, so only one of them bounds the values, and only if the index has its values.
            let (constraint, bounds) = found
                .filter(|(constraint, _)| constraint.present || !source.present_only())
                .min_by_key(|(_, bounds)| (!bounds.is_equality(), bounds.intervals.len()))?;
            return Some(FieldBounds {
                tests: vec![constraint.test],
                exact: usize::from(bounds.exact && !source.fulfills(constraint)),
                intervals: bounds.into_owned().intervals,
            });
        }
        let (mut tests, mut exact, mut sets) = (Vec::new(), 0, Vec::new());
        for (constraint, bounds) in found {
            tests.push(constraint.test);
            exact += usize::from(bounds.exact && !source.fulfills(constraint));
            sets.push(match bounds {
                Cow::Borrowed(bounds) => Cow::Borrowed(&*bounds.intervals),
                Cow::Owned(bounds) => Cow::Owned(bounds.intervals),
            });
        }
        Some(FieldBounds {
            tests,
            exact,
            intervals: intersection(sets)?.into_owned(),
        })
    }
}
