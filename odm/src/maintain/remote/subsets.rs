//! The unread updates of a subset that shows new children of a parent.
//!
//! If the array is right before the update, it is right after it: the new children are added at their places in the order, and
//! the array is cut to the limit. If the elements show `_id`, no two have the same place, and the server sorts them. If they do
//! not, the server may put elements with the same place into any order. Then only children that come before all elements are
//! added: at the front of the array or, if it is in reverse order, at its back.

use bson::{RawBson, spec::ElementType};
use odm_mql::{Direction, Filter, Operation, Push, PushSort, Sort, Test, is_scalar, path};
use odm_store::Result;

use super::{FieldUpdate, Remote};
use crate::{
    catalog::{DerivedField, FromDerived, SubsetDefinition},
    maintain::{
        derived::{
            Subsets, shown,
            subset::{changed_children, is_mergeable, order_of, shown_of, shows},
        },
        unit::{Doc, Unit},
    },
};

/// Above this many new children of one parent, reading the parent is cheaper than a long update.
const CHILDREN: usize = 16;

impl Remote for Subsets {
    fn can_update(&self, unit: &Unit<'_>, field: &DerivedField) -> bool {
        let mut changed = unit.images(field.source()).changed();
        SubsetDefinition::from_derived(field).is_some_and(|subset| {
            takes_children(subset) && changed.all(|(_, image)| image.before().is_none())
        })
    }

    fn changes(
        &self,
        unit: &Unit<'_>,
        field: &DerivedField,
    ) -> Result<Vec<(Vec<u8>, Option<FieldUpdate>)>> {
        let Some(subset) = SubsetDefinition::from_derived(field) else {
            return Ok(Vec::new());
        };
        let new = changed_children(unit, subset, |image| image.before().is_none())?;
        let children = new.into_iter();
        let changes = children.map(|(key, children)| Ok((key, added(subset, &children)?)));
        changes.collect()
    }
}

/// Whether an update can add children to the array of a subset.
fn takes_children(subset: &SubsetDefinition) -> bool {
    let order = shown_of(subset, order_of(subset));
    let is_flat = order.keys().iter().all(|(path, _)| !path.contains('.'));
    let is_told = shows(subset, "_id") || order.keys().len() == 1;
    is_flat && is_told && !order.ignores_case() && is_mergeable(subset)
}

/// The change that adds new children, which come in the order of the subset.
fn added(subset: &SubsetDefinition, children: &[Doc]) -> Result<Option<FieldUpdate>> {
    let order = shown_of(subset, order_of(subset));
    let places: Vec<Vec<u8>> = children
        .iter()
        .map(|child| order.encode_key(child))
        .collect();
    let has_tie = places.windows(2).any(|pair| pair[0] == pair[1]);
    // A scalar is compared as a whole, by the order as by the server.
    let is_plain = |child: &Doc| {
        let values = order.keys().iter().map(|(name, _)| path::get(child, name));
        values
            .into_iter()
            .all(|value| value.is_some_and(|value| is_scalar(&value.into())))
    };
    let is_small = children.len() <= CHILDREN;
    if has_tie || !is_small || !children.iter().all(is_plain) {
        return Ok(None);
    }
    if shows(subset, "_id") {
        sorted(subset, children, &order).map(Some)
    } else {
        first(subset, children, &order)
    }
}

/// The change that adds children by their places.
fn sorted(subset: &SubsetDefinition, children: &[Doc], order: &Sort) -> Result<FieldUpdate> {
    let mut conditions = Vec::new();
    for (name, _) in order.keys().iter().filter(|(name, _)| name != "_id") {
        // The server would compare an array as a whole.
        conditions.push(within(
            subset,
            name,
            Test::Not(vec![of_types([ElementType::Array])]),
        ));
    }
    // A child that another program has added to the array already would be there twice.
    let ids = children.iter().filter_map(|child| path::get(child, "_id"));
    let ids: Vec<RawBson> = ids.map(RawBson::from).collect();
    conditions.push(within(subset, "_id", Test::Nin(ids.into())));
    let sort = shown_of(subset, subset.sort.clone());
    let push = Push {
        sort: Some(PushSort::Fields(sort)),
        ..pushed(subset, children.iter())?
    };
    conditions.push(is_array(subset));
    Ok(FieldUpdate {
        operation: Operation::Push(push),
        filter: Filter::And(conditions),
    })
}

/// The change that adds children that come before all elements; `None` if no filter can ensure that they do.
fn first(subset: &SubsetDefinition, children: &[Doc], order: &Sort) -> Result<Option<FieldUpdate>> {
    let [(name, direction)] = order.keys() else {
        return Ok(None);
    };
    let Some(value) = children.last().and_then(|last| path::get(last, name)) else {
        return Ok(None);
    };
    let value = RawBson::from(value);
    let Some(others) = other_types(&value) else {
        return Ok(None);
    };
    let tests = match direction {
        Direction::Descending => vec![Test::Not(vec![Test::Gte(value)])],
        Direction::Ascending => vec![
            Test::Not(vec![Test::Lte(value)]),
            Test::Ne(RawBson::Null),
            Test::Ne(RawBson::Double(f64::NAN)),
        ],
    };
    let conditions = tests.into_iter().map(|test| within(subset, name, test));
    let mut conditions: Vec<Filter> = conditions.collect();
    // A value of another type may come before it as well.
    let is_other = Filter::Path(name.clone(), of_types(others));
    let has_other = Test::ElemMatch(Box::new(is_other));
    conditions.push(is_array(subset));
    conditions.push(Filter::Path(
        subset.path.clone().into(),
        Test::Not(vec![has_other]),
    ));
    let push = if subset.limit < 0 {
        // The array has the elements in the reverse order.
        pushed(subset, children.iter().rev())?
    } else {
        Push {
            position: Some(0),
            ..pushed(subset, children.iter())?
        }
    };
    Ok(Some(FieldUpdate {
        operation: Operation::Push(push),
        filter: Filter::And(conditions),
    }))
}

fn pushed<'d>(subset: &SubsetDefinition, children: impl Iterator<Item = &'d Doc>) -> Result<Push> {
    let elements = children.map(|child| Ok(RawBson::Document(shown(subset, child)?)));
    Ok(Push {
        each: elements.collect::<Result<Vec<RawBson>>>()?,
        slice: Some(subset.limit),
        ..Push::default()
    })
}

fn is_array(subset: &SubsetDefinition) -> Filter {
    let array = of_types([ElementType::Array]);
    Filter::Path(subset.path.clone().into(), array)
}

/// A test of a field of the elements.
fn within(subset: &SubsetDefinition, field: &str, test: Test) -> Filter {
    Filter::Path(format!("{}.{field}", subset.path).into(), test)
}

fn of_types(types: impl Into<Vec<ElementType>>) -> Test {
    Test::Type(types.into())
}

/// The types whose values a test of a scalar does not compare with it.
fn other_types(value: &RawBson) -> Option<Vec<ElementType>> {
    use ElementType::*;
    const NUMBERS: [ElementType; 4] = [Int32, Int64, Double, Decimal128];
    let own: &[ElementType] = match value.element_type() {
        number if NUMBERS.contains(&number) => &NUMBERS,
        String => &[String, Symbol],
        Boolean => &[Boolean],
        DateTime => &[DateTime],
        ObjectId => &[ObjectId],
        Binary => &[Binary],
        _ => return None,
    };
    let all = [
        Double,
        String,
        EmbeddedDocument,
        Array,
        Binary,
        Undefined,
        ObjectId,
        Boolean,
        DateTime,
        RegularExpression,
        DbPointer,
        JavaScriptCode,
        Symbol,
        JavaScriptCodeWithScope,
        Int32,
        Timestamp,
        Int64,
        Decimal128,
        MaxKey,
        MinKey,
    ];
    Some(all.into_iter().filter(|of| !own.contains(of)).collect())
}
