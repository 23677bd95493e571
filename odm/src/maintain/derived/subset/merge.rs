//! The merge of changed children into a stored array.
//!
//! The stored array has the first children from before the unit. If it is shorter than the limit, it has all children; else all
//! other children come after its last element. So if the changed children are removed from the array and inserted again where
//! they belong now, the array is right up to that element. A child is found by its `_id` or, if the elements do not show `_id`,
//! by its place in the order, provided that no other child shares the place.

use std::{borrow::Cow, cmp::Ordering, collections::HashSet};

use bson::{RawArrayBuf, RawBsonRef, RawDocument};
use odm_mql::{Sort, key, path};
use odm_store::{Error, Result, mutants::mutant};

use super::{order_of, shown, shows, stale::ChangedChild};
use crate::{
    catalog::{SubsetDefinition, references},
    maintain::derived::counts,
};

/// Whether the elements of a subset show all fields of its order.
pub(in crate::maintain) fn is_mergeable(subset: &SubsetDefinition) -> bool {
    let order = shown_of(subset, order_of(subset));
    let mut fields = order.keys().iter();
    !order.is_empty() && fields.all(|(path, _)| shows(subset, path::split(path).0))
}

/// An order of children by the fields that their elements show: `_id`, which comes last, is left out if they do not show it.
pub(in crate::maintain) fn shown_of(subset: &SubsetDefinition, order: Sort) -> Sort {
    let sort = order.total();
    let fields = sort.keys().iter();
    let fields = fields.take_while(|(path, _)| path != "_id" || shows(subset, "_id"));
    fields.fold(Sort::new(), |sort, (path, direction)| {
        sort.by(path.clone(), *direction)
    })
}

/// The elements of an array, each with its place in the order.
type Elements<'a> = Vec<(Vec<u8>, Cow<'a, RawDocument>)>;

/// The right array of a parent, or `None` if children must be read for it. `changed` are the changed children that referenced the
/// parent before the unit, or do so now.
pub(super) fn merged(
    subset: &SubsetDefinition,
    parent: &RawDocument,
    parent_key: &[u8],
    changed: &[ChangedChild],
) -> Result<Option<RawArrayBuf>> {
    let Some(RawBsonRef::Array(array)) = path::get(parent, &subset.path) else {
        return Ok(None);
    };
    let order = shown_of(subset, order_of(subset));
    let limit = usize::try_from(subset.limit.unsigned_abs()).unwrap_or(usize::MAX);
    let mut elements = Elements::new();
    for element in array {
        let RawBsonRef::Document(element) = element.map_err(Error::malformed)? else {
            return Ok(None);
        };
        elements.push((order.encode_key(element), Cow::Borrowed(element)));
    }
    if subset.limit < 0 {
        elements.reverse();
    }
    let is_full = elements.len() >= limit;
    let last = elements.last().map(|(place, _)| place.clone());
    let last = last.unwrap_or_default();
    let is_behind = |place: &[u8]| {
        if is_full {
            place.cmp(&last)
        } else {
            Ordering::Less
        }
    };
    let child_counts = |child: &RawDocument| {
        let mut is_of_parent = false;
        references(child, &subset.reference, |parent| {
            is_of_parent |= key::of(parent) == parent_key;
        });
        Ok::<_, Error>(is_of_parent && counts(subset, child)?)
    };
    let taken_out = if shows(subset, "_id") {
        Some(by_id(&elements, changed))
    } else {
        by_place(&elements, changed, &order, child_counts, is_behind)
    };
    let Some(taken_out) = taken_out else {
        return Ok(None);
    };
    let mut at = 0;
    elements.retain(|_| {
        at += 1;
        !taken_out.contains(&(at - 1))
    });
    for child in changed.iter().filter_map(|child| child.now.as_ref()) {
        if child_counts(child)? {
            let element = Cow::Owned(shown(subset, child)?);
            elements.push((order.encode_key(child), element));
        }
    }
    // Elements that share a place stay in their order.
    if !mutant("order of a subset") {
        elements.sort_by(|(a, _), (b, _)| a.cmp(b));
    }
    let is_tie = |pair: &[(Vec<u8>, Cow<'_, RawDocument>)]| {
        let is_new = |element: &Cow<'_, _>| matches!(element, Cow::Owned(_));
        pair[0].0 == pair[1].0 && (is_new(&pair[0].1) || is_new(&pair[1].1))
    };
    if elements.windows(2).any(is_tie) && !mutant("tie in a subset") {
        return Ok(None);
    }
    if !mutant("limit of a subset") {
        elements.truncate(limit);
    }
    // Children that were not shown may come before an element that is now behind the former last one.
    let is_known = |(place, _): &(Vec<u8>, _)| is_behind(place).is_le();
    let is_full = is_full && !mutant("next child of a subset");
    if is_full && !(elements.len() == limit && elements.last().is_some_and(is_known)) {
        return Ok(None);
    }
    if subset.limit < 0 {
        elements.reverse();
    }
    let mut merged = RawArrayBuf::new();
    for (_, element) in elements {
        merged.push(RawBsonRef::Document(&element));
    }
    Ok(Some(merged))
}

/// The positions of the elements of changed children, which show their `_id`.
fn by_id(elements: &Elements<'_>, changed: &[ChangedChild]) -> HashSet<usize> {
    let changed: HashSet<&[u8]> = changed.iter().map(|child| &*child.key).collect();
    let is_changed = |(_, element): &(Vec<u8>, Cow<'_, RawDocument>)| {
        path::get(element, "_id").is_some_and(|id| changed.contains(&*key::of(id)))
    };
    let positions = 0..elements.len();
    positions.filter(|&at| is_changed(&elements[at])).collect()
}

/// The positions of the elements of changed children, found by the former places of the children; `None` if a place does not
/// identify an element.
fn by_place(
    elements: &Elements<'_>,
    changed: &[ChangedChild],
    order: &Sort,
    child_counts: impl Fn(&RawDocument) -> Result<bool>,
    is_behind: impl Fn(&[u8]) -> Ordering,
) -> Option<HashSet<usize>> {
    let mut positions = HashSet::new();
    for child in changed.iter().filter_map(|child| child.before.as_ref()) {
        // A child that was stored by a write that did not know the filter may have counted.
        if !child_counts(child).ok()? {
            continue;
        }
        let place = order.encode_key(child);
        match is_behind(&place) {
            Ordering::Greater => continue,
            Ordering::Equal => return None,
            Ordering::Less => {}
        }
        let first = elements.partition_point(|(other, _)| *other < place);
        let mut same = elements[first..]
            .iter()
            .take_while(|(other, _)| *other == place);
        let is_one = same.next().is_some() && same.next().is_none();
        if !is_one || !positions.insert(first) {
            return None;
        }
    }
    Some(positions)
}
