//! The change of an array that shows a new child, in a parent that is not read.
//!
//! The array is right before. The child comes into it by its place in the order, and the array is cut to the limit: so it is
//! right after, if no element has the place of the child, and if the server compares elements as the order does.

use bson::{RawBson, spec::ElementType};

use super::{changed_children, merge, order_of, shown, shows};
use crate::{
    catalog::SubsetDefinition,
    error::Result,
    maintain::{
        derived::blind::BlindChange,
        unit::{Doc, Unit},
    },
    mql::{Filter, Operation, Push, PushSort, Sort, Test, is_scalar, path},
};

/// To how many new children of one parent, by which the filter grows, the change is worth it.
const CHILDREN: usize = 16;

/// Whether children can be added to the array of a subset by an update.
pub(in crate::maintain::derived) fn is_blind(subset: &SubsetDefinition) -> bool {
    let mut keys = subset.sort.keys().iter();
    let is_flat = keys.all(|(path, _)| !path.contains('.'));
    is_flat && !subset.sort.ignores_case() && merge::is_mergeable(subset)
}

/// What becomes of the array in parents with new children, by the keys of their `_id`s; `None` where that is not known.
pub(in crate::maintain::derived) fn blind_changes(
    unit: &Unit<'_>,
    subset: &SubsetDefinition,
) -> Result<Vec<(Vec<u8>, Option<BlindChange>)>> {
    let new = changed_children(unit, subset, |image| image.before().is_none())?;
    let children = new.into_iter();
    let changes = children.map(|(key, children)| Ok((key, pushed(subset, &children)?)));
    changes.collect()
}

/// The change that adds new children, which come in order.
fn pushed(subset: &SubsetDefinition, children: &[Doc]) -> Result<Option<BlindChange>> {
    let order = merge::shown_of(subset, order_of(subset));
    let places: Vec<Vec<u8>> = children
        .iter()
        .map(|child| order.encode_key(child))
        .collect();
    let has_tie = places.windows(2).any(|pair| pair[0] == pair[1]);
    if has_tie || children.len() > CHILDREN {
        return Ok(None);
    }
    let own_places = children.iter().map(|child| place(&order, child));
    let Some(own_places) = own_places.collect::<Option<Vec<Filter>>>() else {
        return Ok(None);
    };
    let is_array = Test::Type(vec![ElementType::Array]);
    let not = |test| Test::Not(vec![test]);
    // The server would compare an array as a whole.
    let keys = order.keys().iter().map(|(name, _)| {
        let path = format!("{}.{name}", subset.path);
        Filter::Path(path.into(), not(is_array.clone()))
    });
    let mut conditions: Vec<Filter> = keys.collect();
    conditions.push(Filter::Path(subset.path.clone().into(), is_array.clone()));
    if !shows(subset, "_id") {
        let any = match <[Filter; 1]>::try_from(own_places) {
            Ok([place]) => place,
            Err(places) => Filter::Or(places),
        };
        let has_place = Test::ElemMatch(Box::new(any));
        conditions.push(Filter::Path(subset.path.clone().into(), not(has_place)));
    }
    let each = children
        .iter()
        .map(|child| Ok(RawBson::Document(shown(subset, child)?)));
    let each = each.collect::<Result<Vec<RawBson>>>()?;
    let sort = merge::shown_of(subset, subset.sort.clone());
    let push = Push {
        each,
        sort: Some(PushSort::Fields(sort)),
        slice: Some(subset.limit),
        position: None,
    };
    Ok(Some(BlindChange {
        operation: Operation::Push(push),
        filter: Filter::And(conditions),
    }))
}

/// The filter of elements with the place of a child in an order; `None` if a value is none that equals only its like.
fn place(order: &Sort, child: &Doc) -> Option<Filter> {
    let keys = order.keys().iter();
    let values = keys.map(|(name, _)| {
        let value = RawBson::from(path::get(child, name)?);
        is_scalar(&value).then(|| Filter::Path(name.clone(), Test::Eq(value)))
    });
    values.collect::<Option<Vec<Filter>>>().map(Filter::And)
}
