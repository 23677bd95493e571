//! The order of the elements of an array: `$sortArray`, and `$firstN`, `$lastN`, `$maxN` and `$minN`.

use std::cmp::Ordering;

use bson::{Bson, RawArray, RawBson, RawBsonRef};

use super::{
    evaluate::{is_null, is_number, type_of},
    failed,
    named::{Arguments, NamedOperator},
};
use crate::{
    Direction, Error, PushSort, Sort, number,
    order::{compare_by, sort_elements},
    types::{as_number, bad_as},
};

/// The constant order in `sortBy`: 1 or -1, or the directions of fields.
pub(super) fn order(by: &Bson) -> Result<PushSort, Error> {
    let bad = |code| {
        bad_as(
            code,
            "$sortArray",
            "1 or -1 in `sortBy`, or fields with 1 or -1",
        )
    };
    match by {
        Bson::Document(document) if document.is_empty() => Err(bad(2_942_505)),
        Bson::Document(document) => Sort::parse_exactly(document)
            .map(PushSort::Fields)
            .map_err(|_| bad(2_942_505)),
        value => {
            let is_number = as_number(value).is_some();
            let code = if is_number { 2_942_506 } else { 2_942_507 };
            let direction = Direction::parse_exactly(value);
            direction.map(PushSort::Elements).ok_or_else(|| bad(code))
        }
    }
}

pub(super) fn sort(arguments: Arguments<'_>) -> Result<Option<RawBson>, Error> {
    let input = arguments.value(0)?;
    let array = match &input {
        value if is_null(value) => return Ok(Some(RawBson::Null)),
        Some(RawBson::Array(array)) => array,
        value => {
            let reason = format!("its input must be an array, not {}", type_of(value));
            return Err(failed(arguments.name(), reason, 2_942_504));
        }
    };
    let mut elements = elements(array);
    let collation = arguments.collation();
    // The parser has made it.
    if let Some(order) = arguments.order() {
        order.sort(&mut elements, collation);
    }
    Ok(Some(RawBson::Array(elements.into_iter().collect())))
}

/// A number of elements: the first or the last ones, or the greatest or the least ones.
pub(super) fn some(arguments: Arguments<'_>) -> Result<Option<RawBson>, Error> {
    let (operator, name) = (arguments.operator(), arguments.name());
    let (n, input) = (arguments.value(0)?, arguments.value(1)?);
    let Some(RawBson::Array(array)) = &input else {
        let reason = format!("its input must be an array, not {}", type_of(&input));
        return Err(failed(name, reason, 5_788_200));
    };
    let n = count(name, &n)?;
    let mut elements = elements(array);
    let collation = arguments.collation();
    match operator {
        NamedOperator::LastN => {
            let before = elements.len().saturating_sub(n);
            elements.drain(..before);
        }
        NamedOperator::MaxN => {
            extremes(&mut elements, &|a, b| compare_by(collation, b, a));
        }
        NamedOperator::MinN => {
            extremes(&mut elements, &|a, b| compare_by(collation, a, b));
        }
        _ => {}
    }
    elements.truncate(n);
    Ok(Some(RawBson::Array(elements.into_iter().collect())))
}

/// The number of elements in `n`.
fn count(name: &'static str, n: &Option<RawBson>) -> Result<usize, Error> {
    let bad = |reason, code| {
        failed(
            name,
            format!("`n` must be {reason}, not {}", type_of(n)),
            code,
        )
    };
    if !is_number(n) {
        return Err(bad("a number", 5_787_902));
    }
    let whole = n.as_ref().and_then(|n| number::whole(n.as_raw_bson_ref()));
    match whole {
        None => Err(bad("a whole number of 64 bits", 5_787_903)),
        Some(..=0) => Err(failed(name, "`n` must be greater than 0", 5_787_908)),
        Some(n) => Ok(usize::try_from(n).unwrap_or(usize::MAX)),
    }
}

/// Sorts elements, without null ones.
fn extremes(
    elements: &mut Vec<RawBsonRef<'_>>,
    order: &dyn Fn(RawBsonRef<'_>, RawBsonRef<'_>) -> Ordering,
) {
    elements.retain(|element| !matches!(element, RawBsonRef::Null | RawBsonRef::Undefined));
    sort_elements(elements, order);
}

fn elements(array: &RawArray) -> Vec<RawBsonRef<'_>> {
    array.into_iter().flatten().collect()
}
