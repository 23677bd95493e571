//! Which way a query takes.
//!
//! Of the ways that there are, the documents of the collection and each of its indexes, the best is
//! taken by plain rules, in this order: a unique index with all its fields compared for equality;
//! more fields compared for equality; equality and then the order that is asked for; a range; the
//! order; all documents. A choice (`$or`) is a way if each of its branches has one.
//!
//! An index may offer too many documents, never too few: what it finds is compared with the filter
//! again, unless the bounds say all that the filter does.

mod bounds;
mod candidate;
mod constraint;
mod ordering;
mod words;

use std::borrow::Cow;

use bson::RawBson;

use super::schema::Collection;
use crate::mql::{Direction, Filter, Sort};

pub(super) use bounds::KeyRange;
use candidate::candidate;
pub(super) use candidate::{Candidate, Source};
use constraint::Constraints;
pub(super) use ordering::fields_len;
pub(super) use words::describe;

/// How documents get into the order that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// They are found in it.
    Native,
    /// Those whose keys begin with the same fields are found one after another, and must be put in
    /// the order of `_id`.
    Runs {
        /// How many fields of the index.
        fields: usize,
    },
    /// All that are found must be put in the order of `_id`.
    Ids,
    /// They must be sorted.
    Sort,
}

/// The order that is asked for, and from where on.
#[derive(Debug, Clone)]
pub(super) struct Wanted<'q> {
    /// The keys of the sort before `_id`.
    pub(super) fields: &'q [(Cow<'static, str>, Direction)],
    /// The direction of `_id`. What comes after it in the sort is of no account.
    pub(super) id: Direction,
    /// A value for each key, and for `_id`.
    pub(super) after: Option<&'q [RawBson]>,
}

impl<'q> Wanted<'q> {
    pub(super) fn new(sort: &'q Sort, after: Option<&'q [RawBson]>) -> Self {
        let keys = sort.keys();
        match keys.iter().position(|(path, _)| path == "_id") {
            Some(at) => Wanted {
                fields: &keys[..at],
                id: keys[at].1,
                after: after.map(|after| &after[..(at + 1).min(after.len())]),
            },
            None => Wanted {
                fields: keys,
                id: Direction::Ascending,
                after,
            },
        }
    }
}

/// The way that was chosen.
#[derive(Debug)]
pub(super) enum Plan<'f, 's> {
    /// By one index, or by the documents themselves.
    One(Candidate<'f, 's>),
    /// By several, one for each branch of a choice. The documents are found in no order.
    Union(Vec<Candidate<'f, 's>>),
}

impl Plan<'_, '_> {
    /// How the documents get into order.
    pub(super) fn order(&self, wanted: &Wanted<'_>) -> Order {
        match self {
            Plan::One(candidate) => candidate.order,
            Plan::Union(_) if wanted.fields.is_empty() => Order::Ids,
            Plan::Union(_) => Order::Sort,
        }
    }
}

/// What the filters of a query say: the first step, whose result the plan refers to.
pub(super) struct Conditions<'f> {
    all: Constraints<'f>,
    /// For each choice, its branches, if each of them says something.
    choices: Vec<Vec<Constraints<'f>>>,
}

impl<'f> Conditions<'f> {
    pub(super) fn of(filters: &[&'f Filter]) -> Self {
        let all = Constraints::of(filters);
        let choices = all
            .choices
            .iter()
            .map(|branches| {
                branches
                    .iter()
                    .map(|branch| Constraints::of(&[branch]))
                    .collect()
            })
            .collect();
        Conditions { all, choices }
    }
}

/// Chooses a way.
pub(super) fn plan<'f, 's>(
    collection: &'s Collection,
    conditions: &'f Conditions<'f>,
    wanted: &Wanted<'_>,
) -> Plan<'f, 's> {
    let best = best(collection, &conditions.all, wanted);
    if best.rank.has_equality() {
        return Plan::One(best);
    }
    let unordered = Wanted {
        after: None,
        ..wanted.clone()
    };
    for branches in &conditions.choices {
        let mut ways = Vec::with_capacity(branches.len());
        for branch in branches {
            let way = self::best(collection, branch, &unordered);
            if !way.rank.is_selective() {
                break;
            }
            ways.push(way);
        }
        if ways.len() == branches.len() && !best.rank.is_selective() {
            return Plan::Union(ways);
        }
    }
    Plan::One(best)
}

fn best<'f, 's>(
    collection: &'s Collection,
    constraints: &'f Constraints<'f>,
    wanted: &Wanted<'_>,
) -> Candidate<'f, 's> {
    let documents = candidate(Source::documents(collection), constraints, wanted);
    // The documents are always a way: they leave out nothing.
    let mut best = documents.unwrap_or_else(|| unreachable!("a collection has all its documents"));
    for index in &collection.indexes {
        if let Some(other) = candidate(Source::index(index), constraints, wanted)
            && other.rank > best.rank
        {
            best = other;
        }
    }
    best
}
