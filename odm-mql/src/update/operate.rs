//! The operations on single values.

use std::{cmp::Ordering, collections::HashSet};

use bson::{DateTime, RawArray, RawArrayBuf, RawBson, RawBsonRef, RawDocument, Timestamp};
use odm_pattern::Steps;

use super::{
    CurrentDate, End, Operation, Pull, Push, PushSort, arithmetic,
    tree::{Action, TreeLeaf},
};
use crate::{
    Collation, Error, Sort,
    error::code,
    key,
    order::{compare_by, equal, equal_by, sort_elements},
    path, types,
    write::malformed,
};

/// The result of an operation on a value or on a missing one.
pub(super) enum ValueChange<'u> {
    /// The value stays.
    Keep,
    /// The value is removed.
    Remove,
    /// A value of the update.
    Put(RawBsonRef<'u>),
    /// A computed value.
    Make(RawBson),
}

/// The input of an update besides the document.
#[derive(Clone, Copy)]
pub(super) struct Moment<'m> {
    pub(super) inserting: bool,
    pub(super) now: DateTime,
    /// The remaining steps, shared by the filters of all elements.
    pub(super) steps: &'m Steps,
    /// By which texts are compared.
    pub(super) collation: Option<&'m Collation>,
}

/// Whether an operation ignores a missing field, even if the field could not be created.
pub(super) fn needs_no_path(leaf: &TreeLeaf<'_>, moment: Moment<'_>) -> bool {
    match leaf.action {
        Action::Operation(Operation::Unset) | Action::Release | Action::Nothing => true,
        Action::Operation(Operation::SetOnInsert(_)) => !moment.inserting,
        _ => false,
    }
}

/// Applies an operation to a missing value.
pub(super) fn create<'u>(
    leaf: &TreeLeaf<'u>,
    moment: Moment<'_>,
) -> Result<ValueChange<'u>, Error> {
    let operation = match leaf.action {
        Action::Operation(operation) => operation,
        Action::Receive(value) => return Ok(ValueChange::Put(value)),
        Action::Release | Action::Nothing => return Ok(ValueChange::Keep),
    };
    Ok(match operation {
        Operation::Set(value)
        | Operation::Inc(value)
        | Operation::Add(value)
        | Operation::Min(value)
        | Operation::Max(value) => ValueChange::Put(value.as_raw_bson_ref()),
        Operation::Mul(factor) => ValueChange::Make(arithmetic::zero(factor)),
        Operation::Bit(operands) => {
            ValueChange::Make(arithmetic::bit(leaf.path, RawBsonRef::Int32(0), operands)?)
        }
        Operation::SetOnInsert(value) if moment.inserting => {
            ValueChange::Put(value.as_raw_bson_ref())
        }
        Operation::CurrentDate(kind) => ValueChange::Make(current_date(*kind, moment.now)),
        Operation::Push(push) => self::push(push, &RawArrayBuf::new(), moment)?,
        Operation::AddToSet(values) => ValueChange::Make(RawBson::Array(
            added(&RawArrayBuf::new(), values, moment)?.unwrap_or_default(),
        )),
        Operation::SetOnInsert(_)
        | Operation::Unset
        | Operation::Rename(_)
        | Operation::Pop(_)
        | Operation::Pull(_)
        | Operation::PullAll(_) => ValueChange::Keep,
    })
}

/// Applies an operation to a value.
pub(super) fn change<'u>(
    leaf: &TreeLeaf<'u>,
    value: RawBsonRef<'_>,
    moment: Moment<'_>,
) -> Result<ValueChange<'u>, Error> {
    let operation = match leaf.action {
        Action::Operation(operation) => operation,
        Action::Receive(new) if equal(new, value) => return Ok(ValueChange::Keep),
        Action::Receive(new) => return Ok(ValueChange::Put(new)),
        Action::Release => return Ok(ValueChange::Remove),
        Action::Nothing => return Ok(ValueChange::Keep),
    };
    Ok(match operation {
        Operation::Set(new) => ValueChange::Put(new.as_raw_bson_ref()),
        Operation::SetOnInsert(new) if moment.inserting => ValueChange::Put(new.as_raw_bson_ref()),
        Operation::SetOnInsert(_) | Operation::Rename(_) => ValueChange::Keep,
        Operation::Unset => ValueChange::Remove,
        Operation::Add(amount) if value == RawBsonRef::Null => {
            ValueChange::Put(amount.as_raw_bson_ref())
        }
        Operation::Inc(amount) | Operation::Add(amount) => {
            made(value, arithmetic::inc(leaf.path, value, amount)?)
        }
        Operation::Mul(factor) => made(value, arithmetic::mul(leaf.path, value, factor)?),
        Operation::Bit(operands) => made(value, arithmetic::bit(leaf.path, value, operands)?),
        Operation::Min(new) => put_if(Ordering::Less, new, value, moment),
        Operation::Max(new) => put_if(Ordering::Greater, new, value, moment),
        Operation::CurrentDate(kind) => ValueChange::Make(current_date(*kind, moment.now)),
        Operation::Push(push) => self::push(push, array("$push", leaf.path, value)?, moment)?,
        Operation::AddToSet(values) => {
            match added(array("$addToSet", leaf.path, value)?, values, moment)? {
                Some(array) => ValueChange::Make(RawBson::Array(array)),
                None => ValueChange::Keep,
            }
        }
        Operation::Pop(end) => pop(*end, array("$pop", leaf.path, value)?)?,
        Operation::Pull(pull) => keep_elements(array("$pull", leaf.path, value)?, |element| {
            is_pulled(pull, element, moment).map(|is_pulled| !is_pulled)
        })?,
        Operation::PullAll(values) => {
            let key = |value: RawBsonRef<'_>| key::of_by(moment.collation, value);
            let keys: HashSet<Vec<u8>> = values
                .iter()
                .map(|value| key(value.as_raw_bson_ref()))
                .collect();
            keep_elements(array("$pullAll", leaf.path, value)?, |element| {
                Ok(!keys.contains(&key(element)))
            })?
        }
    })
}

fn array<'a>(
    operator: &'static str,
    path: &str,
    value: RawBsonRef<'a>,
) -> Result<&'a RawArray, Error> {
    match value {
        RawBsonRef::Array(array) => Ok(array),
        other => Err(Error::WrongType {
            operator,
            path: path.to_owned(),
            expected: "an array",
            found: types::name(other.element_type()),
            code: match operator {
                "$pop" => code::TYPE_MISMATCH,
                _ => code::BAD_VALUE,
            },
        }),
    }
}

fn elements(array: &RawArray) -> Result<Vec<RawBsonRef<'_>>, Error> {
    array
        .into_iter()
        .map(|element| element.map_err(malformed))
        .collect()
}

fn put_if<'u>(
    order: Ordering,
    new: &'u RawBson,
    value: RawBsonRef<'_>,
    moment: Moment<'_>,
) -> ValueChange<'u> {
    let new = new.as_raw_bson_ref();
    if compare_by(moment.collation, new, value) == order {
        ValueChange::Put(new)
    } else {
        ValueChange::Keep
    }
}

/// A computed number. If it equals the old value and has its type, the old value stays: so does -0.0.
fn made<'u>(value: RawBsonRef<'_>, new: RawBson) -> ValueChange<'u> {
    let same_type = new.element_type() == value.element_type();
    if same_type && equal(new.as_raw_bson_ref(), value) {
        ValueChange::Keep
    } else {
        ValueChange::Make(new)
    }
}

fn current_date(kind: CurrentDate, now: DateTime) -> RawBson {
    match kind {
        CurrentDate::Date => RawBson::DateTime(now),
        CurrentDate::Timestamp => {
            let seconds = now.timestamp_millis().div_euclid(1000);
            RawBson::Timestamp(Timestamp {
                time: u32::try_from(seconds).unwrap_or_default(),
                increment: 1,
            })
        }
    }
}

fn push<'u>(push: &Push, array: &RawArray, moment: Moment<'_>) -> Result<ValueChange<'u>, Error> {
    let mut all = elements(array)?;
    let len = all.len();
    let amount = |number: i64| usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX);
    let at = match push.position {
        None => len,
        Some(position) if position < 0 => len.saturating_sub(amount(position)),
        Some(position) => amount(position).min(len),
    };
    all.splice(at..at, push.each.iter().map(RawBson::as_raw_bson_ref));
    if let Some(sort) = &push.sort {
        sort.sort(&mut all, moment.collation);
    }
    match push.slice {
        Some(slice) if slice < 0 => {
            all.drain(..all.len().saturating_sub(amount(slice)));
        }
        Some(slice) => all.truncate(amount(slice)),
        None => {}
    }
    Ok(ValueChange::Make(RawBson::Array(all.into_iter().collect())))
}

impl PushSort {
    /// Sorts the elements of an array.
    pub(crate) fn sort(&self, elements: &mut [RawBsonRef<'_>], collation: Option<&Collation>) {
        sort_elements(elements, &|a, b| match self {
            PushSort::Elements(direction) => direction.apply(compare_by(collation, a, b)),
            PushSort::Fields(sort) => compare_fields(sort, a, b, collation),
        });
    }
}

/// The order of two elements by their fields.
fn compare_fields(
    sort: &Sort,
    a: RawBsonRef<'_>,
    b: RawBsonRef<'_>,
    collation: Option<&Collation>,
) -> Ordering {
    sort.keys()
        .iter()
        .map(|(path, direction)| {
            let field = |element| field(element, path).unwrap_or(RawBsonRef::Null);
            direction.apply(compare_by(collation, field(a), field(b)))
        })
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// A field of a pushed element. Arrays on the path are entered by positions only.
fn field<'a>(element: RawBsonRef<'a>, path: &str) -> Option<RawBsonRef<'a>> {
    path.split('.')
        .try_fold(element, |value, part| match value {
            RawBsonRef::Document(document) => path::get(document, part),
            RawBsonRef::Array(array) => {
                path::get(RawDocument::from_bytes(array.as_bytes()).ok()?, part)
            }
            _ => None,
        })
}

/// The array with the values added that it lacks, or `None` if it has all of them.
fn added(
    array: &RawArray,
    values: &[RawBson],
    moment: Moment<'_>,
) -> Result<Option<RawArrayBuf>, Error> {
    let mut all = elements(array)?;
    let len = all.len();
    if let [value] = values {
        let value = value.as_raw_bson_ref();
        let is_equal = |element: &_| equal_by(moment.collation, *element, value);
        if !all.iter().any(is_equal) {
            all.push(value);
        }
    } else {
        let key = |value: RawBsonRef<'_>| key::of_by(moment.collation, value);
        let mut keys: HashSet<Vec<u8>> = all.iter().map(|element| key(*element)).collect();
        let values = values.iter().map(RawBson::as_raw_bson_ref);
        all.extend(values.filter(|value| keys.insert(key(*value))));
    }
    Ok((all.len() > len).then(|| all.into_iter().collect()))
}

fn pop<'u>(end: End, array: &RawArray) -> Result<ValueChange<'u>, Error> {
    let all = elements(array)?;
    let rest = match (end, all.as_slice()) {
        (_, []) => return Ok(ValueChange::Keep),
        (End::First, [_, rest @ ..]) | (End::Last, [rest @ .., _]) => rest,
    };
    Ok(ValueChange::Make(RawBson::Array(
        rest.iter().copied().collect(),
    )))
}

fn is_pulled(pull: &Pull, element: RawBsonRef<'_>, moment: Moment<'_>) -> Result<bool, Error> {
    let Moment {
        steps, collation, ..
    } = moment;
    match (pull, element) {
        (Pull::Value(value), element) => Ok(equal_by(collation, element, value.as_raw_bson_ref())),
        (Pull::Filter(filter), RawBsonRef::Document(document)) => {
            filter.matches_within(document, steps, collation)
        }
        (Pull::Filter(_), _) => Ok(false),
        (Pull::Tests(tests), element) => tests.iter().try_fold(true, |pulled, test| {
            Ok(pulled && test.matches_within(Some(element), steps, collation)?)
        }),
    }
}

fn keep_elements<'u>(
    array: &RawArray,
    mut keep: impl FnMut(RawBsonRef<'_>) -> Result<bool, Error>,
) -> Result<ValueChange<'u>, Error> {
    let all = elements(array)?;
    let mut kept = Vec::with_capacity(all.len());
    for element in &all {
        if keep(*element)? {
            kept.push(*element);
        }
    }
    if kept.len() == all.len() {
        return Ok(ValueChange::Keep);
    }
    Ok(ValueChange::Make(RawBson::Array(
        kept.into_iter().collect(),
    )))
}
