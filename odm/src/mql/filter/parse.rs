//! The parser of MongoDB's form of a filter.

use bson::{Bson, Document, RawBson, spec::ElementType};

use super::{Filter, Pattern, Test};
use crate::mql::{
    Error, path,
    types::{self, MAX_NESTING, bad, check_nesting, is_operators, to_raw, truthy, whole_number},
};

pub(super) fn filter(document: &Document) -> Result<Filter, Error> {
    // A filter is at most as deep as the document it is parsed from.
    document
        .values()
        .try_for_each(|value| check_nesting(value, MAX_NESTING - 1))?;
    fields(document)
}

/// Parses a filter in a document whose depth was checked.
pub(in crate::mql) fn fields(document: &Document) -> Result<Filter, Error> {
    let mut all = Filter::default();
    for (key, value) in document {
        let one = match key.as_str() {
            "$and" => filters(key, value)?
                .into_iter()
                .fold(Filter::default(), Filter::and),
            "$or" => Filter::Or(filters(key, value)?),
            "$nor" => Filter::Nor(filters(key, value)?),
            operator if operator.starts_with('$') => {
                return Err(Error::UnknownOperator(operator.to_owned()));
            }
            path => field(path, value)?,
        };
        all = all.and(one);
    }
    Ok(all)
}

fn filters(operator: &str, value: &Bson) -> Result<Vec<Filter>, Error> {
    let expected = || bad(operator, "a non-empty array of filters");
    let Bson::Array(array) = value else {
        return Err(expected());
    };
    if array.is_empty() {
        return Err(expected());
    }
    array
        .iter()
        .map(|value| value.as_document().ok_or_else(expected).and_then(fields))
        .collect()
}

fn field(path: &str, value: &Bson) -> Result<Filter, Error> {
    path::check(path)?;
    let tests = element_tests(value)?;
    Ok(tests.into_iter().fold(Filter::default(), |all, test| {
        all.and(Filter::Path(path.to_owned().into(), test))
    }))
}

/// The tests that a field's value in a filter stands for: operators, or equality.
pub(in crate::mql) fn element_tests(value: &Bson) -> Result<Vec<Test>, Error> {
    match value {
        Bson::Document(document) if is_operators(document) => operators(document),
        Bson::RegularExpression(regex) => Ok(vec![Test::Regex(Pattern::from_bson(regex)?)]),
        value => Ok(vec![Test::Eq(operand("$eq", value)?)]),
    }
}

fn operators(document: &Document) -> Result<Vec<Test>, Error> {
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
                (values, patterns) if patterns.is_empty() => Test::In(values),
                (values, patterns) => any(values, patterns),
            },
            "$nin" => match one_of(operator, value)? {
                (values, patterns) if patterns.is_empty() => Test::Nin(values),
                (values, patterns) => Test::Not(vec![any(values, patterns)]),
            },
            "$all" => Test::All(all(value)?),
            "$exists" => Test::Exists(truthy(value)),
            "$type" => Test::Type(kinds(value)?),
            "$size" => match whole_number(value) {
                Some(size) if size >= 0 => Test::Size(size),
                _ => return Err(bad(operator, "a whole number that is not negative")),
            },
            "$elemMatch" => elem_match(value)?,
            "$regex" => Test::Regex(regex(value, document.get("$options"))?),
            "$options" if document.contains_key("$regex") => continue,
            "$options" => return Err(bad(operator, "a `$regex` beside it")),
            "$not" => Test::Not(not(value)?),
            _ => return Err(Error::UnknownOperator(operator.clone())),
        });
    }
    Ok(tests)
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
            Bson::RegularExpression(regex) => patterns.push(Pattern::from_bson(regex)?),
            Bson::Document(document) if is_operators(document) => {
                return Err(bad(operator, "values, not operators"));
            }
            value => values.push(operand(operator, value)?),
        }
    }
    Ok((values, patterns))
}

fn any(values: Vec<RawBson>, patterns: Vec<Pattern>) -> Test {
    let values = (!values.is_empty()).then_some(Test::In(values));
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
            Bson::RegularExpression(regex) => Ok(Test::Regex(Pattern::from_bson(regex)?)),
            value => Ok(Test::Eq(operand("$all", value)?)),
        })
        .collect()
}

fn kinds(value: &Bson) -> Result<Vec<ElementType>, Error> {
    let expected = || bad("$type", "names or codes of BSON types");
    let one = |value: &Bson| match value {
        Bson::String(name) => types::by_name(name).ok_or_else(expected),
        value => whole_number(value)
            .and_then(types::by_code)
            .map(|kind| vec![kind])
            .ok_or_else(expected),
    };
    match value {
        Bson::Array(array) if array.is_empty() => Err(expected()),
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
    let logical = |key: &String| ["$and", "$or", "$nor"].contains(&key.as_str());
    if is_operators(document) && !document.keys().next().is_some_and(logical) {
        Ok(Test::ElemTest(operators(document)?))
    } else {
        Ok(Test::ElemMatch(Box::new(fields(document)?)))
    }
}

fn regex(value: &Bson, options: Option<&Bson>) -> Result<Pattern, Error> {
    let options = match options {
        None => None,
        Some(Bson::String(options)) => Some(options.as_str()),
        Some(_) => return Err(bad("$options", "a string")),
    };
    match value {
        Bson::String(source) if source.contains('\0') => {
            Err(bad("$regex", "an expression without NUL"))
        }
        Bson::String(source) => Pattern::new(source, options.unwrap_or_default()),
        Bson::RegularExpression(regex) => match options {
            Some(_) if !regex.options.is_empty() => {
                Err(bad("$options", "a `$regex` without options of its own"))
            }
            Some(options) => Pattern::new(regex.pattern.as_str(), options),
            None => Pattern::from_bson(regex),
        },
        _ => Err(bad("$regex", "a string or a regular expression")),
    }
}

fn not(value: &Bson) -> Result<Vec<Test>, Error> {
    match value {
        Bson::RegularExpression(regex) => Ok(vec![Test::Regex(Pattern::from_bson(regex)?)]),
        Bson::Document(document) if is_operators(document) => operators(document),
        _ => Err(bad("$not", "operators or a regular expression")),
    }
}
