//! The parser of MongoDB's form of a projection.

use std::borrow::Cow;

use bson::{Bson, Document, RawBsonRef, RawDocumentBuf};

use super::{Rule, Slice};
use crate::{
    Error, Expr, Filter, Test,
    error::code,
    number, order, path,
    types::{MAX_NESTING, as_number, bad, bad_as, check_nesting, truthy, unknown},
    variables::Substitution,
};

/// Collects the fields of a projection, and of a nested one under a longer path.
pub(super) fn fields(
    document: &Document,
    prefix: &str,
    variables: &Substitution<'_>,
    out: &mut Vec<(Cow<'static, str>, Rule)>,
) -> Result<(), Error> {
    for (key, value) in document {
        check_nesting(value, MAX_NESTING)?;
        let path = if prefix.is_empty() {
            key.clone()
        } else {
            format!("{prefix}.{key}")
        };
        if let Some(array) = path.strip_suffix(".$") {
            path::check_strictly(array).map_err(|error| in_the_middle(array, error))?;
            out.push((array.to_owned().into(), positional(&path, value)?));
            continue;
        }
        path::check_strictly(&path).map_err(|error| in_the_middle(&path, error))?;
        let rule = match value {
            Bson::Document(inner) => match inner.iter().next() {
                Some((operator, operand)) if operator.starts_with('$') => {
                    if inner.len() > 1 {
                        let expected = "to be the only operator of its field";
                        return Err(bad_as(16_410, operator, expected));
                    }
                    self::operator(operator, operand, &path, variables)?
                }
                Some(_) => {
                    fields(inner, &path, variables, out)?;
                    continue;
                }
                None => {
                    let expected = "a field in each document; `$literal` makes an empty one";
                    return Err(bad_as(51_270, "projection", expected));
                }
            },
            value => match included(value) {
                Some(true) => Rule::Include,
                Some(false) => Rule::Exclude,
                None => computed(value, variables)?,
            },
        };
        out.push((path.into(), rule));
    }
    Ok(())
}

/// Whether a number or a boolean includes a field.
fn included(value: &Bson) -> Option<bool> {
    let is_flag = as_number(value).is_some() || matches!(value, Bson::Boolean(_));
    is_flag.then(|| truthy(value))
}

/// The error of a path that has a `$` before its end.
fn in_the_middle(path: &str, error: Error) -> Error {
    match path.split('.').skip(1).any(|part| part == "$") {
        true => path::bad(path, "`$` is not its last part", 31_394),
        false => error,
    }
}

fn positional(path: &str, value: &Bson) -> Result<Rule, Error> {
    match (included(value), value) {
        (Some(true), _) => Ok(Rule::Positional),
        (Some(false), _) => Err(Error::MixedProjection {
            path: path.to_owned(),
            included: false,
        }),
        (None, Bson::Document(document)) if document.contains_key("$elemMatch") => {
            Err(bad_as(31_256, "$elemMatch", "a path without `$`"))
        }
        (None, Bson::Document(_)) => Err(bad_as(31_271, "$", "1")),
        (None, _) => Err(bad_as(31_308, "$", "1")),
    }
}

fn operator(
    operator: &str,
    operand: &Bson,
    path: &str,
    variables: &Substitution<'_>,
) -> Result<Rule, Error> {
    match operator {
        "$slice" => slice(operand, variables),
        "$elemMatch" if path.contains('.') => {
            Err(bad_as(31_275, operator, "a field that is not nested"))
        }
        "$elemMatch" => {
            let Bson::Document(_) = operand else {
                return Err(bad_as(31_274, operator, "a document"));
            };
            let filter = bson::doc! { "": { operator: operand } };
            match Filter::parse(&filter)? {
                Filter::Path(_, test @ (Test::ElemMatch(_) | Test::ElemTest(_))) => {
                    Ok(Rule::ElemMatch(test))
                }
                _ => Err(bad(operator, "a document")),
            }
        }
        "$meta" => Err(Error::NotSupported {
            operator: operator.to_owned(),
            instead: "there is no metadata of documents",
            code: code::NOT_IMPLEMENTED,
        }),
        other if Expr::has_operator(other) => {
            computed(&bson::doc! { other: operand }.into(), variables)
        }
        other => Err(unknown(31_325, other)),
    }
}

/// An expression. If it reads no field, it fails here and not on the first document.
fn computed(value: &Bson, variables: &Substitution<'_>) -> Result<Rule, Error> {
    let expr = Expr::parse_in(value, variables)?;
    if expr.paths().is_empty() {
        expr.evaluate(&RawDocumentBuf::new())?;
    }
    Ok(Rule::Computed(expr))
}

/// A part of the array at the path, or, if an operand is not a number, the operator of expressions.
fn slice(operand: &Bson, variables: &Substitution<'_>) -> Result<Rule, Error> {
    let (skip, limit) = match operand {
        Bson::Array(array) => match array.as_slice() {
            [skip, limit] => match (amount(skip), amount(limit)) {
                (Some(skip), Some(limit)) if limit > 0 => (Some(skip), Some(limit)),
                (Some(_), Some(_)) => {
                    return Err(bad_as(
                        28_724,
                        "$slice",
                        "a number to return that is above 0",
                    ));
                }
                _ => (None, None),
            },
            _ => (None, None),
        },
        number => (None, amount(number)),
    };
    match limit {
        Some(limit) => Ok(Rule::Slice(Slice { skip, limit })),
        None => computed(&bson::doc! { "$slice": operand }.into(), variables),
    }
}

/// A number of elements: cut towards zero, to 32 bits, and 0 for NaN.
fn amount(value: &Bson) -> Option<i64> {
    let number = as_number(value)?;
    let (least, most) = (i32::MIN.into(), i32::MAX.into());
    Some(match number::truncated(number) {
        Some(amount) => amount.clamp(least, most),
        None if order::is_nan(number) => 0,
        None if order::compare(number, RawBsonRef::Int32(0)).is_lt() => least,
        None => most,
    })
}
