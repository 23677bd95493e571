//! The parser of MongoDB's form of a projection.

use std::borrow::Cow;

use bson::{Bson, Document};

use super::{Rule, Slice};
use crate::mql::{
    Error, Filter, Test, path,
    types::{MAX_NESTING, bad, check_nesting, truthy, whole_number},
};

/// Collects the fields of a projection, and of a nested one under a longer path.
pub(super) fn fields(
    document: &Document,
    prefix: &str,
    out: &mut Vec<(Cow<'static, str>, Rule)>,
) -> Result<(), Error> {
    for (key, value) in document {
        check_nesting(value, MAX_NESTING)?;
        let path = if prefix.is_empty() {
            key.clone()
        } else {
            format!("{prefix}.{key}")
        };
        path::check_strictly(&path)?;
        if path.split('.').any(|part| part.starts_with('$')) {
            let reason = "a part of it begins with `$`";
            return Err(Error::BadPath { path, reason });
        }
        let rule = match value {
            Bson::Document(inner) => match inner.iter().next() {
                Some((operator, operand)) if operator.starts_with('$') => {
                    if inner.len() > 1 {
                        return Err(bad(operator, "to be the only operator of its field"));
                    }
                    self::operator(operator, operand, &path)?
                }
                Some(_) => {
                    fields(inner, &path, out)?;
                    continue;
                }
                None => return Err(bad("projection", "a field in each document")),
            },
            Bson::Boolean(_)
            | Bson::Int32(_)
            | Bson::Int64(_)
            | Bson::Double(_)
            | Bson::Decimal128(_) => {
                if truthy(value) {
                    Rule::Include
                } else {
                    Rule::Exclude
                }
            }
            _ => {
                return Err(bad(
                    "projection",
                    "0, 1, `$slice` or `$elemMatch` for each field",
                ));
            }
        };
        out.push((path.into(), rule));
    }
    Ok(())
}

fn operator(operator: &str, operand: &Bson, path: &str) -> Result<Rule, Error> {
    match operator {
        "$slice" => slice(operand).map(Rule::Slice),
        "$elemMatch" if path.contains('.') => Err(bad(operator, "a field that is not nested")),
        "$elemMatch" => {
            let filter = bson::doc! { "": { operator: operand } };
            match Filter::parse(&filter)? {
                Filter::Path(_, test @ (Test::ElemMatch(_) | Test::ElemTest(_))) => {
                    Ok(Rule::ElemMatch(test))
                }
                _ => Err(bad(operator, "a document")),
            }
        }
        other => Err(Error::UnknownOperator(other.to_owned())),
    }
}

fn slice(operand: &Bson) -> Result<Slice, Error> {
    let expected = || {
        bad(
            "$slice",
            "a number, or an array of how many to skip and to return",
        )
    };
    match operand {
        Bson::Array(array) => match array.as_slice() {
            [skip, limit] => {
                let skip = whole_number(skip).ok_or_else(expected)?;
                let limit = whole_number(limit).ok_or_else(expected)?;
                if limit <= 0 {
                    return Err(bad("$slice", "a positive number of elements to return"));
                }
                Ok(Slice {
                    skip: Some(skip),
                    limit,
                })
            }
            _ => Err(expected()),
        },
        number => Ok(Slice {
            skip: None,
            limit: whole_number(number).ok_or_else(expected)?,
        }),
    }
}
