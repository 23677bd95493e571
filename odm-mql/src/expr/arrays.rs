//! The operators of expressions on arrays.

mod shape;

use bson::{RawArray, RawArrayBuf, RawBson};

use super::{
    ExprNode,
    evaluate::{check_size, is_null, node, type_of},
    failed,
    operator::Operator,
    scope::Scope,
};
use crate::{Error, number, order};

/// The value of an operator on an array.
pub(super) fn operator(
    operator: Operator,
    values: &[Option<RawBson>],
    scope: Scope<'_>,
) -> Result<Option<RawBson>, Error> {
    match (operator, values) {
        (Operator::IsArray, [value]) => {
            let is_array = matches!(value, Some(RawBson::Array(_)));
            Ok(Some(RawBson::Boolean(is_array)))
        }
        (Operator::In, [value, array]) => {
            let array = array_of(operator, array, 40_081)?;
            Ok(Some(RawBson::Boolean(has(array, value, scope))))
        }
        (Operator::Size, [array]) => {
            let len = len(array_of(operator, array, 17_124)?);
            Ok(Some(RawBson::Int32(i32::try_from(len).unwrap_or(i32::MAX))))
        }
        (
            Operator::IndexOfArray
            | Operator::ReverseArray
            | Operator::Range
            | Operator::ArrayToObject
            | Operator::ObjectToArray,
            values,
        ) => shape::operator(operator, values, scope),
        (_, values) if values.iter().any(is_null) => null(operator, values),
        (Operator::First, [array]) => Ok(element(array_of(operator, array, 28_689)?, 0)),
        (Operator::Last, [array]) => Ok(element(array_of(operator, array, 28_689)?, -1)),
        (Operator::ArrayElemAt, [array, at]) => {
            let array = array_of(operator, array, 28_689)?;
            Ok(element(array, int(operator, at, 28_690, 28_691)?))
        }
        (_, [array, rest @ ..]) => slice(operator, array, rest),
        (_, []) => Ok(None),
    }
}

/// The elements of all arrays, or null at the first null.
pub(super) fn concat(operands: &[ExprNode], scope: Scope<'_>) -> Result<Option<RawBson>, Error> {
    let (mut all, held) = (RawArrayBuf::new(), scope.work.hold());
    for operand in operands {
        let value = node(operand, scope)?;
        if is_null(&value) {
            return Ok(Some(RawBson::Null));
        }
        for element in array_of(Operator::ConcatArrays, &value, 28_664)?
            .into_iter()
            .flatten()
        {
            all.push(element);
        }
        check_size(all.as_bytes().len())?;
        held.set(all.as_bytes().len())?;
    }
    Ok(Some(RawBson::Array(all)))
}

/// Null, unless the operator rejects an operand before the null or missing one.
fn null(operator: Operator, values: &[Option<RawBson>]) -> Result<Option<RawBson>, Error> {
    if let [array, start, count] = values
        && !is_null(array)
        && !is_null(start)
        && is_null(count)
    {
        array_of(operator, array, 28_724)?;
        int(operator, start, 28_725, 28_726)?;
    }
    Ok(Some(RawBson::Null))
}

/// A part of an array: a number of elements from its start or, if negative, from its end; or a number of elements from a position, which
/// counts from the end if negative.
fn slice(
    operator: Operator,
    array: &Option<RawBson>,
    rest: &[Option<RawBson>],
) -> Result<Option<RawBson>, Error> {
    let array = array_of(operator, array, 28_724)?;
    let len = len(array) as i64;
    let from_end = |at: i64| {
        if at < 0 {
            len.saturating_add(at).max(0)
        } else {
            at.min(len)
        }
    };
    let (start, count) = match rest {
        [start, count] => {
            let start = int(operator, start, 28_725, 28_726)?;
            let count = int(operator, count, 28_727, 28_728)?;
            if count <= 0 {
                return Err(failed(operator, "it needs a count above 0", 28_729));
            }
            (from_end(start), count)
        }
        [count] => match int(operator, count, 28_725, 28_726)? {
            count if count < 0 => (from_end(count), len),
            count => (0, count),
        },
        _ => return Ok(None),
    };
    let elements = array.into_iter().flatten();
    let mut part = RawArrayBuf::new();
    for element in elements.skip(start as usize).take(count as usize) {
        part.push(element);
    }
    Ok(Some(RawBson::Array(part)))
}

/// The element at a position, if it exists. A negative position counts from the end.
fn element(array: &RawArray, at: i64) -> Option<RawBson> {
    let at = match at < 0 {
        true => (len(array) as i64).saturating_add(at),
        false => at,
    };
    let element = array.into_iter().flatten().nth(usize::try_from(at).ok()?)?;
    Some(element.into())
}

fn len(array: &RawArray) -> usize {
    array.into_iter().flatten().count()
}

pub(super) fn array_of(
    operator: Operator,
    value: &Option<RawBson>,
    code: i32,
) -> Result<&RawArray, Error> {
    match value {
        Some(RawBson::Array(array)) => Ok(array),
        other => {
            let reason = format!("it needs an array, not {}", type_of(other));
            Err(failed(operator, reason, code))
        }
    }
}

/// A whole number of 32 bits, of any numeric type. The codes are for a value of another type and for another number.
pub(super) fn int(
    operator: Operator,
    value: &Option<RawBson>,
    type_code: i32,
    number_code: i32,
) -> Result<i64, Error> {
    let is_number = matches!(
        value,
        Some(RawBson::Int32(_) | RawBson::Int64(_) | RawBson::Double(_) | RawBson::Decimal128(_))
    );
    if !is_number {
        let reason = format!("it needs a number, not {}", type_of(value));
        return Err(failed(operator, reason, type_code));
    }
    let whole = value
        .as_ref()
        .and_then(|value| number::whole(value.as_raw_bson_ref()));
    let int = whole.filter(|whole| i32::try_from(*whole).is_ok());
    int.ok_or_else(|| failed(operator, "it needs a whole number of 32 bits", number_code))
}

fn has(array: &RawArray, value: &Option<RawBson>, scope: Scope<'_>) -> bool {
    let Some(value) = value else {
        return false;
    };
    let mut elements = array.into_iter().flatten();
    elements.any(|element| order::equal_by(scope.collation, element, value.as_raw_bson_ref()))
}
