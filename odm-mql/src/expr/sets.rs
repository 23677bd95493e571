//! The operators of expressions on arrays as sets.

use std::collections::HashSet;

use bson::{RawArray, RawArrayBuf, RawBson};

use super::{
    ExprNode,
    arrays::array_of,
    evaluate::{check_size, is_null, truthy, values},
    operator::Operator,
    scope::Scope,
};
use crate::{Collation, Error, key};

/// The encoded values of a set.
type SetKeys = HashSet<Vec<u8>, ahash::RandomState>;

/// The value of an operator on sets.
pub(super) fn operator(
    operator: Operator,
    operands: &[ExprNode],
    scope: Scope<'_>,
) -> Result<Option<RawBson>, Error> {
    let (values, _held) = values(operands, scope)?;
    let set = |at: usize, code| array_of(operator, values.get(at).unwrap_or(&None), code);
    let boolean = |value| Ok(Some(RawBson::Boolean(value)));
    match operator {
        Operator::AllElementsTrue => boolean(elements(set(0, 17_040)?).all(|it| is_true(&it))),
        Operator::AnyElementTrue => boolean(elements(set(0, 17_041)?).any(|it| is_true(&it))),
        Operator::SetIsSubset => {
            let (inner, outer) = (set(0, 17_046)?, keys(set(1, 17_042)?, scope.collation));
            boolean(keys(inner, scope.collation).is_subset(&outer))
        }
        Operator::SetEquals => {
            let mut first = None;
            for (value, operand) in values.iter().zip(operands) {
                let code = match operand {
                    ExprNode::Literal(_) | ExprNode::Object(_) => 5_887_502,
                    _ => 17_044,
                };
                let keys = keys(array_of(operator, value, code)?, scope.collation);
                if *first.get_or_insert_with(|| keys.clone()) != keys {
                    return boolean(false);
                }
            }
            boolean(true)
        }
        Operator::SetDifference => {
            if values.iter().any(is_null) {
                return Ok(Some(RawBson::Null));
            }
            let (minuend, removed) = (set(0, 17_048)?, keys(set(1, 17_049)?, scope.collation));
            Ok(Some(distinct(minuend, removed, scope.collation, |_| true)))
        }
        Operator::SetIntersection => intersection(&values, scope.collation),
        _ => union(&values, scope.collation),
    }
}

fn intersection(
    values: &[Option<RawBson>],
    collation: Option<&Collation>,
) -> Result<Option<RawBson>, Error> {
    let operator = Operator::SetIntersection;
    let mut common: Option<(&RawArray, SetKeys)> = None;
    for value in values {
        if is_null(value) {
            return Ok(Some(RawBson::Null));
        }
        let array = array_of(operator, value, 17_047)?;
        let keys = keys(array, collation);
        match &mut common {
            None => common = Some((array, keys)),
            Some((_, common)) => common.retain(|key| keys.contains(key)),
        }
    }
    Ok(Some(match common {
        None => RawBson::Array(RawArrayBuf::new()),
        Some((first, common)) => distinct(first, SetKeys::default(), collation, |key| {
            common.contains(key)
        }),
    }))
}

fn union(
    values: &[Option<RawBson>],
    collation: Option<&Collation>,
) -> Result<Option<RawBson>, Error> {
    let (mut all, mut met) = (RawArrayBuf::new(), SetKeys::default());
    for value in values {
        if is_null(value) {
            return Ok(Some(RawBson::Null));
        }
        for element in array_of(Operator::SetUnion, value, 17_043)?
            .into_iter()
            .flatten()
        {
            if met.insert(key::of_by(collation, element)) {
                all.push(element);
            }
        }
        check_size(all.as_bytes().len())?;
    }
    Ok(Some(RawBson::Array(all)))
}

/// The elements that pass, without repetitions and without the elements of `removed`.
fn distinct(
    array: &RawArray,
    removed: SetKeys,
    collation: Option<&Collation>,
    passes: impl Fn(&[u8]) -> bool,
) -> RawBson {
    let (mut distinct, mut met) = (RawArrayBuf::new(), removed);
    for element in array.into_iter().flatten() {
        let key = key::of_by(collation, element);
        if passes(&key) && met.insert(key) {
            distinct.push(element);
        }
    }
    RawBson::Array(distinct)
}

fn elements(array: &RawArray) -> impl Iterator<Item = RawBson> {
    array.into_iter().flatten().map(RawBson::from)
}

fn is_true(value: &RawBson) -> bool {
    truthy(value.as_raw_bson_ref())
}

fn keys(array: &RawArray, collation: Option<&Collation>) -> SetKeys {
    let elements = array.into_iter().flatten();
    elements.map(|it| key::of_by(collation, it)).collect()
}
