//! `$median` and `$percentile`, and the arguments of the accumulators of these names.

use bson::{Bson, RawArrayBuf, RawBson, RawBsonRef, RawDocumentBuf};
use odm_pattern::Steps;

use super::{
    ExprNode,
    evaluate::{node, type_of},
    failed,
    named::Arguments,
    scope::Scope,
    work::Work,
};
use crate::{
    Error,
    error::code,
    group::{QuantileKind, Quantiles},
    types::bad_as,
};

/// Checks the method, which is a text and no expression.
pub(crate) fn check_method(name: &str, method: &Bson) -> Result<(), Error> {
    match method {
        Bson::String(method) if method == "approximate" => Ok(()),
        Bson::String(_) => Err(bad_as(
            code::BAD_VALUE,
            name,
            "`approximate` as its `method`",
        )),
        _ => Err(bad_as(
            code::TYPE_MISMATCH,
            name,
            "a string as its `method`",
        )),
    }
}

/// The percentiles in the constant value of `p`.
pub(crate) fn percentiles(p: &Option<RawBson>) -> Result<Vec<f64>, Error> {
    let bad = |found: &str, code| {
        let reason = format!("`p` must be an array of numbers from 0 to 1, and it has {found}");
        failed("$percentile", reason, code)
    };
    let array = match p {
        Some(RawBson::Array(array)) if !array.is_empty() => array,
        Some(RawBson::Array(_)) => return Err(bad("no element", 7_750_301)),
        other => return Err(bad(type_of(other), 7_750_301)),
    };
    let number = |value| {
        let number = Quantiles::number(value);
        let number = number.ok_or_else(|| bad("another value", 7_750_302))?;
        if (0.0..=1.0).contains(&number) {
            Ok(number)
        } else {
            Err(bad("another number", 7_750_303))
        }
    };
    array.into_iter().flatten().map(number).collect()
}

/// The value of `p`, which reads no field.
pub(super) fn constant(p: &ExprNode) -> Result<Option<RawBson>, Error> {
    let mut paths = Vec::new();
    p.collect_paths(&mut paths);
    if !paths.is_empty() {
        return Err(bad_as(7_750_300, "$percentile", "a constant `p`"));
    }
    let steps = Steps::default();
    let work = Work::new(&steps);
    node(p, Scope::of(&RawDocumentBuf::new(), None, &work))
}

/// The value of a number, or of the numbers in an array.
pub(super) fn evaluate(arguments: Arguments<'_>) -> Result<Option<RawBson>, Error> {
    let Some(kind) = arguments.quantiles() else {
        return Ok(None);
    };
    let input = arguments.value(0)?;
    let mut quantiles = Quantiles::default();
    match input.as_ref().map(RawBson::as_raw_bson_ref) {
        Some(RawBsonRef::Array(array)) => {
            for element in array.into_iter().flatten() {
                quantiles.add(element);
            }
        }
        // A number alone is all its percentiles, also if it is NaN.
        Some(value) => {
            if let Some(number) = Quantiles::number(value) {
                let number = RawBson::Double(number);
                return Ok(Some(match kind {
                    QuantileKind::Median => number,
                    QuantileKind::Percentiles(percentiles) => {
                        let all = percentiles.iter().map(|_| number.clone());
                        RawBson::Array(all.collect::<RawArrayBuf>())
                    }
                }));
            }
        }
        None => {}
    }
    Ok(Some(quantiles.into_value(kind)))
}
