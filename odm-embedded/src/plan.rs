//! Chooses the access path of a query.
//!
//! The documents of the collection and each of its indexes are an access path. The planner takes the best one by plain rules, in this
//! order: a unique index with all its fields compared for equality; more fields compared for equality; equality and then the requested
//! order; a range; the requested order, if only the first documents in it are requested; a partial index; the requested order; fewer keys
//! for each document; all documents. A disjunction (`$or`) is read by one access path for each of its branches, if each branch has a
//! selective one.
//!
//! An index may offer too many documents, never too few: the documents that it finds are compared with the filter again, unless the bounds,
//! and the tests of keys within them, are equivalent to the filter.

mod access_path;
mod bounds;
mod constraint;
mod explain;
mod ordering;
mod texts;

use std::borrow::Cow;

use bson::RawBson;
use odm_mql::{Direction, Filter, Sort};

use super::{
    schema::{Collection, Index},
    view::View,
};

pub(super) use access_path::{AccessPath, Source};
use access_path::{MAX_MERGED, access_path};
pub(super) use bounds::KeyRange;
use constraint::Constraints;
pub(super) use explain::{explain, index_names};
pub(super) use ordering::fields_len;
use texts::Texts;

/// How documents get into the requested order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SortStrategy {
    /// The access path finds the documents in order.
    IndexOrder,
    /// Documents whose keys begin with the same fields are found one after another, and each such
    /// run must be sorted by `_id`.
    PartialSort {
        /// How many fields of the index.
        fields: usize,
    },
    /// All documents that are found must be sorted by `_id`.
    SortById,
    /// All documents that are found must be sorted.
    FullSort,
}

impl SortStrategy {
    /// Whether the access path has the documents in order, apart from runs.
    fn is_by_index(self) -> bool {
        matches!(
            self,
            SortStrategy::IndexOrder | SortStrategy::PartialSort { .. }
        )
    }
}

/// The requested order, and the position in it to start after.
#[derive(Debug, Clone)]
pub(super) struct OrderSpec<'q> {
    /// The keys of the sort before `_id`.
    pub(super) fields: &'q [(Cow<'static, str>, Direction)],
    /// How texts are compared, except in the `_id` after the fields.
    pub(super) texts: Texts<'q>,
    /// The direction of `_id`. Keys of the sort after it have no effect, since `_id` is unique.
    pub(super) id: Direction,
    /// A value for each key, and for `_id`.
    pub(super) after: Option<&'q [RawBson]>,
    /// Whether only a part of the documents is requested.
    pub(super) is_limited: bool,
}

impl<'q> OrderSpec<'q> {
    pub(super) fn new(sort: &'q Sort, after: Option<&'q [RawBson]>, is_limited: bool) -> Self {
        let keys = sort.keys();
        let texts = match sort.collation() {
            Some(collation) => Texts::Collated(collation),
            None if sort.ignores_case() => Texts::Folded,
            None => Texts::AsTheyAre,
        };
        match keys.iter().position(|(path, _)| path == "_id") {
            // Ids that are equal in the collation are ordered by their bytes. Documents are compared with a position one by one.
            Some(at) if sort.collates_id() => OrderSpec {
                fields: &keys[..=at],
                texts,
                id: keys[at].1,
                after: None,
                is_limited,
            },
            Some(at) => OrderSpec {
                fields: &keys[..at],
                texts,
                id: keys[at].1,
                after: after.map(|after| &after[..(at + 1).min(after.len())]),
                is_limited,
            },
            None => OrderSpec {
                fields: keys,
                texts,
                id: Direction::Ascending,
                after,
                is_limited,
            },
        }
    }

    /// Whether to read several ranges at the same time for this order. If all documents are requested by `_id` alone, a sort is as cheap.
    fn is_worth_merging(&self) -> bool {
        self.is_limited || !self.fields.is_empty()
    }
}

/// The access paths of a query.
#[derive(Debug)]
pub(super) enum Plan<'f, 's> {
    /// One index, or the documents themselves.
    One(AccessPath<'f, 's>),
    /// One for each branch of a disjunction. The documents are found in no order.
    Union(Vec<AccessPath<'f, 's>>),
    /// The same, if all have the documents in the requested order and are merged.
    Merge(Vec<AccessPath<'f, 's>>),
}

impl<'f, 's> Plan<'f, 's> {
    /// The access paths, at least one.
    pub(super) fn access_paths(&self) -> &[AccessPath<'f, 's>] {
        match self {
            Plan::One(access) => std::slice::from_ref(access),
            Plan::Union(union) | Plan::Merge(union) => union,
        }
    }

    /// Counts a use of each index that it reads.
    pub(super) fn count_uses(&self) {
        let mut last = None;
        for access in self.access_paths() {
            let is_used = access.source.index.is_some() || !access.bounds.is_empty();
            // The branches of a disjunction are mostly of one index.
            if is_used && last.replace(access.source.tree) != Some(access.source.tree) {
                access.source.uses.add();
            }
        }
    }

    /// Whether documents are read without the bounds or the order of an index.
    pub(super) fn is_scan(&self) -> bool {
        let is_scan =
            |access: &AccessPath<'_, '_>| access.source.index.is_none() && access.bounds.is_empty();
        self.access_paths().iter().any(is_scan)
    }

    /// Whether every document that it finds matches the filter.
    pub(super) fn is_exact(&self) -> bool {
        self.access_paths().iter().all(|access| access.exact)
    }

    /// Whether it may find a document several times.
    pub(super) fn repeats(&self) -> bool {
        let access_paths = self.access_paths();
        let source = &access_paths[0].source;
        let is_other = |access: &AccessPath<'_, '_>| access.source.tree != source.tree;
        if source.repeats() || access_paths.iter().any(is_other) {
            return true;
        }
        // The ranges of one access path do not overlap.
        let ranges = access_paths.iter().flat_map(|access| &access.ranges);
        access_paths.len() > 1 && bounds::overlap(ranges.collect())
    }

    /// Whether the ranges of the access paths are merged.
    pub(super) fn is_merged(&self) -> bool {
        match self {
            Plan::One(access) => access.is_merged,
            Plan::Union(_) => false,
            Plan::Merge(_) => true,
        }
    }

    /// Whether its entries are in the requested order, apart from runs.
    pub(super) fn is_sorted(&self) -> bool {
        matches!(self, Plan::One(access) if access.order.is_by_index())
    }

    /// How the documents get into order.
    pub(super) fn order(&self, wanted: &OrderSpec<'_>) -> SortStrategy {
        match self {
            Plan::One(access) => access.order,
            Plan::Merge(_) => SortStrategy::IndexOrder,
            Plan::Union(_) if wanted.fields.is_empty() => SortStrategy::SortById,
            Plan::Union(_) => SortStrategy::FullSort,
        }
    }
}

/// The constraints in the filters of a query.
pub(super) struct Conditions<'f> {
    all: Constraints<'f>,
    /// The constraints of the branches of each disjunction.
    disjunctions: Vec<Vec<Constraints<'f>>>,
}

impl<'f> Conditions<'f> {
    pub(super) fn from_filters(filters: &[&'f Filter]) -> Self {
        let all = Constraints::from_filters(filters);
        // Computed once for all branches.
        let given = all.given();
        let disjunctions = all.disjunctions.iter();
        let disjunctions = disjunctions
            .map(|(branches, collation)| {
                let branch = |filter| Constraints::branch(filter, *collation, &given);
                branches.iter().map(branch).collect()
            })
            .collect();
        Conditions { all, disjunctions }
    }

    /// Whether they are one disjunction.
    fn is_disjunction(&self) -> bool {
        self.all.all.is_empty() && self.all.others == 1 && self.disjunctions.len() == 1
    }
}

/// Chooses the access paths of a query.
pub(super) fn plan<'f, 's>(
    view: View<'_>,
    collection: &'s Collection,
    conditions: &Conditions<'f>,
    wanted: &OrderSpec<'_>,
) -> Plan<'f, 's> {
    let best = best(view, collection, &conditions.all, wanted);
    if best.rank.is_selective() {
        return Plan::One(best);
    }
    let unordered = OrderSpec {
        after: None,
        ..wanted.clone()
    };
    for branches in &conditions.disjunctions {
        let is_all = conditions.is_disjunction();
        let union = |wanted| union(view, collection, branches, wanted, is_all);
        if let Some(union) = union(wanted)
            && is_mergeable(&union, wanted)
        {
            return Plan::Merge(union);
        }
        if let Some(union) = union(&unordered) {
            return Plan::Union(union);
        }
    }
    Plan::One(best)
}

/// Returns the best plan that finds the documents of a query, and no others, by entries that have the values at
/// these paths.
pub(super) fn covering<'f, 's>(
    collection: &'s Collection,
    conditions: &Conditions<'f>,
    wanted: &OrderSpec<'_>,
    paths: &[&str],
) -> Option<Plan<'f, 's>> {
    // A source with several entries for a document is not suitable.
    let indexes = collection.in_force().map(|index| Source::index(index, 1));
    let sources = indexes.chain([Source::documents(collection)]);
    let sources = sources.filter(|source| !source.repeats() && source.has_fields(paths));
    let found = sources.filter_map(|source| access_path(source, &conditions.all, wanted));
    let found = found.filter(|access| access.exact);
    found.max_by_key(|access| access.rank).map(Plan::One)
}

/// The access path of each branch of a disjunction, if all are selective. `is_all` is whether the filter has no other conditions.
fn union<'f, 's>(
    view: View<'_>,
    collection: &'s Collection,
    branches: &[Constraints<'f>],
    wanted: &OrderSpec<'_>,
    is_all: bool,
) -> Option<Vec<AccessPath<'f, 's>>> {
    let branches = branches.iter().map(|branch| {
        let mut access = best(view, collection, branch, wanted);
        access.exact &= is_all;
        access.rank.is_selective().then_some(access)
    });
    branches.collect()
}

/// Whether the parts of the keys that give the order are the same fields in all access paths, so that they can be compared.
fn is_mergeable(union: &[AccessPath<'_, '_>], wanted: &OrderSpec<'_>) -> bool {
    let ranges: usize = union.iter().map(|access| access.ranges.len()).sum();
    wanted.is_worth_merging()
        && ranges <= MAX_MERGED
        && union.iter().all(|access| {
            access.source.index.is_some()
                && !access.source.is_unique()
                && access.order == SortStrategy::IndexOrder
                && access.backward == union[0].backward
                && access.gives_all(wanted)
        })
}

fn best<'f, 's>(
    view: View<'_>,
    collection: &'s Collection,
    constraints: &Constraints<'f>,
    wanted: &OrderSpec<'_>,
) -> AccessPath<'f, 's> {
    let documents = access_path(Source::documents(collection), constraints, wanted);
    let mut best = documents.unwrap_or_else(|| unreachable!("a collection has all its documents"));
    if best.rank.is_unique() {
        return best;
    }
    for index in collection.in_force() {
        // An index without a bound is only useful for its order, or if it has fewer documents.
        let (first, _) = &index.spec.keys[0];
        let is_bounded = constraints
            .all
            .iter()
            .any(|constraint| constraint.path == *first);
        let gives_order = wanted.fields.first().is_some_and(|(path, _)| path == first);
        if !is_bounded && !gives_order && index.spec.filter.is_none() {
            continue;
        }
        let source = Source::index(index, keys_per_document(view, collection, index));
        if let Some(other) = access_path(source, constraints, wanted)
            && other.rank > best.rank
        {
            best = other;
        }
    }
    best
}

/// How many keys of an index there are for a document of the collection, at least 1. An estimate: uncommitted changes do not count.
fn keys_per_document(view: View<'_>, collection: &Collection, index: &Index) -> u64 {
    const UNKNOWN: u64 = 2;
    if !index.multikey.contains(&true) {
        return 1;
    }
    let len = |tree| view.committed_len(tree).ok().flatten();
    match (len(index.tree), len(collection.tree)) {
        (Some(keys), Some(documents)) if documents > 0 => keys.div_ceil(documents).max(1),
        _ => UNKNOWN,
    }
}
