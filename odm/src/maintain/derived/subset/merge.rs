//! The merge of changed children into a stored array.
//!
//! The stored array has the first children from before the unit. If it is shorter than the limit, it has all
//! of them; else all others come after its last element. So the array with the changed children taken out, and
//! put in where they belong now, is right as far as that element.

use std::{borrow::Cow, collections::HashSet};

use bson::{RawArrayBuf, RawBsonRef, RawDocument};

use super::{children_in_order, shown, stale::ChangedChild};
use crate::{
    catalog::{SubsetDefinition, references},
    error::{Error, Result},
    maintain::derived::counts,
    mql::{key, path},
    store::Find,
};

/// Whether the elements of a subset show their `_id` and all fields of its order.
pub(super) fn is_mergeable(subset: &SubsetDefinition) -> bool {
    let Some(names) = &subset.shown else {
        return true;
    };
    let order = children_in_order(subset).sort.total();
    let mut fields = order.keys().iter().map(|(path, _)| path::split(path).0);
    fields.all(|field| names.iter().any(|name| name == field))
}

/// The right array of a parent, or `None` if children must be read for it. `changed` are the children that
/// referred to the parent before the unit, or do so now, and that the unit has changed.
pub(super) fn merged(
    subset: &SubsetDefinition,
    parent: &RawDocument,
    parent_key: &[u8],
    changed: &[ChangedChild],
) -> Result<Option<RawArrayBuf>> {
    let Some(RawBsonRef::Array(array)) = path::get(parent, &subset.path) else {
        return Ok(None);
    };
    let Find { sort, limit, .. } = children_in_order(subset);
    let order = sort.total();
    let limit = limit.and_then(|limit| usize::try_from(limit).ok());
    let limit = limit.unwrap_or(usize::MAX);
    let taken_out: HashSet<&[u8]> = changed.iter().map(|child| &*child.key).collect();
    let mut elements = Vec::new();
    let (mut last, mut stored) = (Vec::new(), 0);
    for element in array {
        let RawBsonRef::Document(element) = element.map_err(Error::malformed)? else {
            return Ok(None);
        };
        let Some(id) = path::get(element, "_id") else {
            return Ok(None);
        };
        let position = order.encode_key(element);
        stored += 1;
        if position > last {
            last.clone_from(&position);
        }
        if !taken_out.contains(&*key::of(id)) {
            elements.push((position, Cow::Borrowed(element)));
        }
    }
    for child in changed.iter().filter_map(|child| child.now.as_ref()) {
        let mut is_of_parent = false;
        references(child, &subset.reference, |parent| {
            is_of_parent |= key::of(parent) == parent_key;
        });
        if is_of_parent && counts(subset, child)? {
            elements.push((order.encode_key(child), Cow::Owned(shown(subset, child)?)));
        }
    }
    elements.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    elements.truncate(limit);
    // Children that were not shown may come before what is after the last element.
    let is_known = |(position, _): &(Vec<u8>, _)| *position <= last;
    if stored >= limit && !(elements.len() == limit && elements.last().is_some_and(is_known)) {
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
