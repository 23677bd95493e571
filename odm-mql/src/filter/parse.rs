//! The parser of MongoDB's form of a filter.

use bson::{Bson, Document, RawBson, spec::ElementType};

use super::{Bits, Filter, Pattern, Test, bits, pattern};
use crate::{
    Error, Expr, Schema,
    error::code,
    path,
    types::{
        self, MAX_NESTING, bad, bad_as, check_nesting, is_operators, to_raw, truncated, truthy,
        unknown, whole_number,
    },
    variables::Substitution,
};

/// The kind of value that a filter tests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum FilterScope<'v> {
    /// A stored document, with the variables of its expressions.
    Document(&'v Substitution<'v>),
    /// A value in one.
    Value,
    /// An element of an array that an update changes.
    ArrayFilter,
}

/// Operators of MongoDB that are not supported here: the name, MongoDB's code where it refuses the operator in a filter on a value, and the
/// alternative.
const UNSUPPORTED: [(&str, i32, &str); 14] = [
    (
        "$where",
        code::BAD_VALUE,
        "write the condition by operators or by `$expr`",
    ),
    ("$text", code::BAD_VALUE, "search by a regular expression"),
    (
        "$sampleRate",
        code::BAD_VALUE,
        "choose documents by a field",
    ),
    ("$near", 5_626_500, "keep a geohash in a field"),
    ("$nearSphere", 5_626_500, "keep a geohash in a field"),
    ("$geoNear", code::BAD_VALUE, "keep a geohash in a field"),
    (
        "$geoWithin",
        code::NOT_IMPLEMENTED,
        "keep a geohash in a field",
    ),
    (
        "$geoIntersects",
        code::NOT_IMPLEMENTED,
        "keep a geohash in a field",
    ),
    (
        "$within",
        code::NOT_IMPLEMENTED,
        "keep a geohash in a field",
    ),
    ("$alwaysTrue", code::BAD_VALUE, "leave the condition out"),
    ("$alwaysFalse", code::BAD_VALUE, "write `{ $nor: [{}] }`"),
    (
        "$meta",
        code::BAD_VALUE,
        "there is no metadata of documents",
    ),
    ("$rand", code::BAD_VALUE, "choose documents by a field"),
    ("$_internalSchemaType", code::BAD_VALUE, "write `$type`"),
];

/// The error of an operator that is not allowed in this scope.
fn no_operator(operator: &str, scope: FilterScope<'_>) -> Error {
    match UNSUPPORTED.iter().find(|(name, ..)| *name == operator) {
        None => unknown(code::BAD_VALUE, operator),
        Some((_, inner, instead)) => Error::NotSupported {
            operator: operator.to_owned(),
            instead,
            code: match scope {
                FilterScope::Document(_) => code::NOT_IMPLEMENTED,
                FilterScope::Value | FilterScope::ArrayFilter => *inner,
            },
        },
    }
}

pub(crate) fn filter(document: &Document, scope: FilterScope<'_>) -> Result<Filter, Error> {
    // A filter is at most as deep as the document it is parsed from.
    document
        .values()
        .try_for_each(|value| check_nesting(value, MAX_NESTING - 1))?;
    fields(document, scope)
}

/// Parses a filter in a document whose depth was checked.
pub(crate) fn fields(document: &Document, scope: FilterScope<'_>) -> Result<Filter, Error> {
    let mut all = Filter::default();
    for (key, value) in document {
        let one = match (key.as_str(), scope) {
            ("$and", _) => filters(key, value, scope)?
                .into_iter()
                .fold(Filter::default(), Filter::and),
            ("$or", _) => Filter::Or(filters(key, value, scope)?),
            ("$nor", _) => Filter::Nor(filters(key, value, scope)?),
            ("$comment", _) => continue,
            ("$expr", FilterScope::Document(variables)) => {
                Filter::Expr(Expr::parse_in(value, variables)?)
            }
            ("$jsonSchema", FilterScope::Document(_)) => Filter::Schema(schema(value)?),
            ("$expr" | "$jsonSchema", _) => return Err(on_whole_documents(key, scope)),
            (operator, _) if operator.starts_with('$') => {
                return Err(no_operator(operator, scope));
            }
            (path, _) => field(path, value, scope)?,
        };
        all = all.and(one);
    }
    Ok(all)
}

/// The error of an operator that is on whole documents only.
fn on_whole_documents(operator: &str, scope: FilterScope<'_>) -> Error {
    let code = match (operator, scope) {
        ("$jsonSchema", _) | (_, FilterScope::ArrayFilter) => code::QUERY_FEATURE_NOT_ALLOWED,
        _ => code::BAD_VALUE,
    };
    let expected = "to be on a whole document, not in a filter on a value";
    bad_as(code, operator, expected)
}

fn schema(value: &Bson) -> Result<Schema, Error> {
    match to_raw(value)? {
        RawBson::Document(schema) => Schema::parse(&schema),
        _ => Err(bad_as(code::TYPE_MISMATCH, "$jsonSchema", "an object")),
    }
}

fn filters(operator: &str, value: &Bson, scope: FilterScope<'_>) -> Result<Vec<Filter>, Error> {
    let expected = || bad(operator, "a non-empty array of filters");
    let Bson::Array(array) = value else {
        return Err(expected());
    };
    if array.is_empty() {
        return Err(expected());
    }
    let one = |value: &Bson| fields(value.as_document().ok_or_else(expected)?, scope);
    array.iter().map(one).collect()
}

fn field(path: &str, value: &Bson, scope: FilterScope<'_>) -> Result<Filter, Error> {
    path::check(path)?;
    let tests = element_tests(value, scope)?;
    Ok(tests.into_iter().fold(Filter::default(), |all, test| {
        all.and(Filter::Path(path.to_owned().into(), test))
    }))
}

/// The tests that a field's value in a filter stands for: operators, or equality.
pub(crate) fn element_tests(value: &Bson, scope: FilterScope<'_>) -> Result<Vec<Test>, Error> {
    match value {
        Bson::Document(document) if is_operators(document) => operators(document, scope),
        Bson::RegularExpression(regex) => Ok(vec![Test::Regex(pattern::from_bson(regex)?)]),
        value => Ok(vec![Test::Eq(operand("$eq", value)?)]),
    }
}

fn operators(document: &Document, scope: FilterScope<'_>) -> Result<Vec<Test>, Error> {
    let mut tests = Vec::with_capacity(document.len());
    for (operator, value) in document {
        tests.push(match operator.as_str() {
            "$eq" => Test::Eq(operand(operator, value)?),
            "$ne" => Test::Ne(no_regex(operator, value)?),
            "$gt" => Test::Gt(no_regex(operator, value)?),
            "$gte" => Test::Gte(no_regex(operator, value)?),
            "$lt" => Test::Lt(no_regex(operator, value)?),
            "$lte" => Test::Lte(no_regex(operator, value)?),
            "$in" => match one_of(operator, value)? {
                (values, patterns) if patterns.is_empty() => Test::In(values.into()),
                (values, patterns) => any(values, patterns),
            },
            "$nin" => match one_of(operator, value)? {
                (values, patterns) if patterns.is_empty() => Test::Nin(values.into()),
                (values, patterns) => Test::Not(vec![any(values, patterns)]),
            },
            "$all" => Test::All(all(value)?),
            "$exists" => Test::Exists(truthy(value)),
            "$type" => Test::Type(kinds(value)?),
            "$size" => match whole_number(value) {
                Some(size) if (0..=i64::from(i32::MAX)).contains(&size) => Test::Size(size),
                _ => return Err(bad(operator, "a whole number of 0 to 2147483647")),
            },
            "$mod" => modulo(value)?,
            "$bitsAllSet" => Test::Bits(Bits::AllSet, bits::positions(operator, value)?),
            "$bitsAllClear" => Test::Bits(Bits::AllClear, bits::positions(operator, value)?),
            "$bitsAnySet" => Test::Bits(Bits::AnySet, bits::positions(operator, value)?),
            "$bitsAnyClear" => Test::Bits(Bits::AnyClear, bits::positions(operator, value)?),
            "$elemMatch" => elem_match(value)?,
            "$regex" => {
                let before = document
                    .keys()
                    .find(|key| ["$regex", "$options"].contains(&key.as_str()));
                let conflict = if before == Some(operator) {
                    51_075
                } else {
                    51_074
                };
                Test::Regex(regex(value, document.get("$options"), conflict)?)
            }
            "$options" if document.contains_key("$regex") => continue,
            "$options" => return Err(bad(operator, "a `$regex` beside it")),
            "$not" => Test::Not(not(value, scope)?),
            "$jsonSchema" => return Err(on_whole_documents(operator, scope)),
            // The geometric operators are the only unsupported ones that MongoDB accepts on a field.
            geo if geo.starts_with("$near") || geo.starts_with("$geo") => {
                return Err(no_operator(operator, scope));
            }
            _ => return Err(no_operator(operator, FilterScope::Value)),
        });
    }
    Ok(tests)
}

/// Both numbers of `$mod` are cut towards zero.
fn modulo(value: &Bson) -> Result<Test, Error> {
    let expected = || {
        bad(
            "$mod",
            "an array of a divisor that is not 0, and a remainder",
        )
    };
    let Bson::Array(array) = value else {
        return Err(expected());
    };
    let [divisor, remainder] = array.as_slice() else {
        return Err(expected());
    };
    let [divisor, remainder] = [divisor, remainder].map(truncated);
    match (divisor, remainder) {
        (Some(divisor), Some(remainder)) if divisor != 0 => Ok(Test::Mod { divisor, remainder }),
        _ => Err(expected()),
    }
}

fn operand(operator: &str, value: &Bson) -> Result<RawBson, Error> {
    match value {
        Bson::Undefined => Err(bad(operator, "a value other than undefined")),
        value => to_raw(value),
    }
}

fn no_regex(operator: &str, value: &Bson) -> Result<RawBson, Error> {
    match value {
        Bson::RegularExpression(_) => Err(bad(operator, "a value, not a regular expression")),
        value => operand(operator, value),
    }
}

fn one_of(operator: &str, value: &Bson) -> Result<(Vec<RawBson>, Vec<Pattern>), Error> {
    let Bson::Array(array) = value else {
        return Err(bad(operator, "an array"));
    };
    let (mut values, mut patterns) = (Vec::with_capacity(array.len()), Vec::new());
    for value in array {
        match value {
            Bson::RegularExpression(regex) => patterns.push(pattern::from_bson(regex)?),
            Bson::Document(document) if is_operators(document) => {
                return Err(bad(operator, "values, not operators"));
            }
            value => values.push(operand(operator, value)?),
        }
    }
    Ok((values, patterns))
}

fn any(values: Vec<RawBson>, patterns: Vec<Pattern>) -> Test {
    let values = (!values.is_empty()).then(|| Test::In(values.into()));
    Test::Any(
        values
            .into_iter()
            .chain(patterns.into_iter().map(Test::Regex))
            .collect(),
    )
}

fn all(value: &Bson) -> Result<Vec<Test>, Error> {
    let Bson::Array(array) = value else {
        return Err(bad("$all", "an array"));
    };
    let is_elem_match = |value: &Bson| {
        value.as_document().is_some_and(|document| {
            document
                .keys()
                .next()
                .is_some_and(|key| key == "$elemMatch")
        })
    };
    let elem_matches = array.first().is_some_and(is_elem_match);
    array
        .iter()
        .map(|value| match value {
            Bson::Document(document) if elem_matches => match document.iter().next() {
                Some((key, value)) if key == "$elemMatch" && document.len() == 1 => {
                    elem_match(value)
                }
                _ => Err(bad("$all", "`$elemMatch` in each element, or in none")),
            },
            _ if elem_matches => Err(bad("$all", "`$elemMatch` in each element, or in none")),
            Bson::Document(document) if is_operators(document) => {
                Err(bad("$all", "values, not operators"))
            }
            Bson::RegularExpression(regex) => Ok(Test::Regex(pattern::from_bson(regex)?)),
            value => Ok(Test::Eq(operand("$all", value)?)),
        })
        .collect()
}

fn kinds(value: &Bson) -> Result<Vec<ElementType>, Error> {
    let expected = |code| bad_as(code, "$type", "names or codes of BSON types");
    let one = |value: &Bson| match value {
        Bson::String(name) => types::by_name(name).ok_or_else(|| expected(code::BAD_VALUE)),
        Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_) | Bson::Decimal128(_) => {
            whole_number(value)
                .and_then(types::by_code)
                .map(|kind| vec![kind])
                .ok_or_else(|| expected(code::BAD_VALUE))
        }
        _ => Err(expected(code::TYPE_MISMATCH)),
    };
    match value {
        Bson::Array(array) if array.is_empty() => Err(expected(code::FAILED_TO_PARSE)),
        Bson::Array(array) => Ok(array
            .iter()
            .map(one)
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .flatten()
            .collect()),
        value => one(value),
    }
}

fn elem_match(value: &Bson) -> Result<Test, Error> {
    let Bson::Document(document) = value else {
        return Err(bad("$elemMatch", "a document"));
    };
    // A logical operator combines filters on the fields of the element; any other operator tests the
    // element.
    let logical = |key: &String| ["$and", "$or", "$nor", "$expr"].contains(&key.as_str());
    if is_operators(document) && !document.keys().next().is_some_and(logical) {
        Ok(Test::ElemTest(operators(document, FilterScope::Value)?))
    } else {
        Ok(Test::ElemMatch(Box::new(fields(
            document,
            FilterScope::Value,
        )?)))
    }
}

fn regex(value: &Bson, options: Option<&Bson>, conflict: i32) -> Result<Pattern, Error> {
    let options = match options {
        None => None,
        Some(Bson::String(options)) => Some(options.as_str()),
        Some(_) => return Err(bad("$options", "a string")),
    };
    match value {
        Bson::String(source) if source.contains('\0') => {
            Err(bad("$regex", "an expression without NUL"))
        }
        Bson::String(source) => Ok(Pattern::new(source, options.unwrap_or_default())?),
        Bson::RegularExpression(regex) => match options {
            Some(_) if !regex.options.is_empty() => {
                let expected = "a `$regex` without options of its own";
                Err(bad_as(conflict, "$options", expected))
            }
            Some(options) => Ok(Pattern::new(regex.pattern.as_str(), options)?),
            None => pattern::from_bson(regex),
        },
        _ => Err(bad("$regex", "a string or a regular expression")),
    }
}

fn not(value: &Bson, scope: FilterScope<'_>) -> Result<Vec<Test>, Error> {
    match value {
        Bson::RegularExpression(regex) => Ok(vec![Test::Regex(pattern::from_bson(regex)?)]),
        Bson::Document(document) if is_operators(document) => operators(document, scope),
        _ => Err(bad("$not", "operators or a regular expression")),
    }
}
