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

/// The request that a projection is a part of.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ProjectionUse {
    Find,
    /// The stage `$project`.
    Stage,
}

/// Collects the fields of a projection, and of a nested one under a longer path.
pub(super) fn fields(
    document: &Document,
    prefix: &str,
    used: ProjectionUse,
    variables: &Substitution<'_>,
    out: &mut Vec<(Cow<'static, str>, Rule)>,
) -> Result<(), Error> {
    for (key, value) in document {
        check_nesting(value, MAX_NESTING)?;
        let path = join(prefix, key);
        if used == ProjectionUse::Stage && path.split('.').any(|part| part == "$") {
            return Err(path::bad(&path, "a stage has no positional `$`", 31_324));
        }
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
                    self::operator(operator, operand, &path, used, variables)?
                }
                Some(_) => {
                    fields(inner, &path, used, variables, out)?;
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
                None => computed(value, used, variables)?,
            },
        };
        out.push((path.into(), rule));
    }
    Ok(())
}

fn join(prefix: &str, name: &str) -> String {
    match prefix.is_empty() {
        true => name.to_owned(),
        false => format!("{prefix}.{name}"),
    }
}

/// Collects the fields of the stage `$set`, and of a document in it under a longer path. Each is computed.
pub(super) fn set_fields(
    document: &Document,
    prefix: &str,
    variables: &Substitution<'_>,
    out: &mut Vec<(Cow<'static, str>, Rule)>,
) -> Result<(), Error> {
    for (name, value) in document {
        check_nesting(value, MAX_NESTING)?;
        let path = join(prefix, name);
        if !prefix.is_empty() && name.contains('.') {
            let reason = "a field of a document in it has a dot; name the whole path outside";
            return Err(path::bad(&path, reason, 40_183));
        }
        path::check_strictly(&path)?;
        match value {
            Bson::Document(inner) if !inner.is_empty() && !has_operator(inner)? => {
                set_fields(inner, &path, variables, out)?;
            }
            value => out.push((
                path.into(),
                Rule::Computed(Expr::parse_in(value, variables)?),
            )),
        }
    }
    Ok(())
}

/// Whether a document is an operator with its operands.
fn has_operator(document: &Document) -> Result<bool, Error> {
    let mut names = document.keys();
    match names.find(|name| name.starts_with('$')) {
        Some(operator) if document.len() > 1 => Err(bad_as(
            40_181,
            operator,
            "to be the only operator of its field",
        )),
        operator => Ok(operator.is_some()),
    }
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
    used: ProjectionUse,
    variables: &Substitution<'_>,
) -> Result<Rule, Error> {
    match operator {
        "$slice" if used == ProjectionUse::Find => slice(operand, variables),
        "$elemMatch" if used == ProjectionUse::Stage => {
            Err(unknown(code::INVALID_PIPELINE_OPERATOR, operator))
        }
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
            computed(&bson::doc! { other: operand }.into(), used, variables)
        }
        other => Err(unknown(31_325, other)),
    }
}

/// An expression. If it reads no field, it fails here and not on the first document; in a stage this may be a document of a `$lookup`, for
/// which its variables get other values.
fn computed(
    value: &Bson,
    used: ProjectionUse,
    variables: &Substitution<'_>,
) -> Result<Rule, Error> {
    let expr = Expr::parse_in(value, variables)?;
    if used == ProjectionUse::Find && expr.paths().is_empty() {
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
        None => {
            let slice = bson::doc! { "$slice": operand };
            computed(&slice.into(), ProjectionUse::Find, variables)
        }
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
