//! The operators of expressions that make arrays, find an element, and change between arrays and documents.

use std::collections::HashMap;

use bson::{
    RawArray, RawArrayBuf, RawBson, RawBsonRef, RawDocumentBuf,
    raw::{CString, cstr},
};

use super::{array_of, int};
use crate::{
    Error,
    error::code,
    expr::{
        evaluate::{MAX_VALUE, check_size, is_null, type_of},
        failed,
        operator::Operator,
        scope::Scope,
        search::position,
    },
    order,
    write::malformed,
};

/// The value of such an operator.
pub(super) fn operator(
    operator: Operator,
    values: &[Option<RawBson>],
    scope: Scope<'_>,
) -> Result<Option<RawBson>, Error> {
    match (operator, values) {
        (Operator::Range, [start, end, step @ ..]) => range(start, end, step.first()),
        (_, [value, ..]) if is_null(value) => Ok(Some(RawBson::Null)),
        (Operator::IndexOfArray, [array, wanted, range @ ..]) => {
            let array = array_of(operator, array, 40_090)?;
            let place = |value: &Option<RawBson>| position(operator, value, (9_711_600, 9_711_601));
            let start = range.first().map_or(Ok(0), place)?;
            let end = range.get(1).map_or(Ok(usize::MAX), place)?;
            let wanted = wanted.as_ref().map(RawBson::as_raw_bson_ref);
            let is_wanted = |element, wanted| order::equal_by(scope.collation, element, wanted);
            let mut elements = array
                .into_iter()
                .flatten()
                .enumerate()
                .take(end)
                .skip(start);
            let found = elements
                .find(|(_, element)| wanted.is_some_and(|wanted| is_wanted(*element, wanted)));
            let found = found.and_then(|(at, _)| i32::try_from(at).ok());
            Ok(Some(RawBson::Int32(found.unwrap_or(-1))))
        }
        (Operator::ReverseArray, [array]) => {
            let array = array_of(operator, array, 34_435)?;
            let mut elements: Vec<RawBsonRef<'_>> = array.into_iter().flatten().collect();
            elements.reverse();
            Ok(Some(RawBson::Array(elements.into_iter().collect())))
        }
        (Operator::ArrayToObject, [array]) => to_object(array_of(operator, array, 40_386)?),
        (_, [Some(RawBson::Document(document))]) => {
            let mut pairs = RawArrayBuf::new();
            for (name, value) in document.iter().flatten() {
                let mut pair = RawDocumentBuf::new();
                pair.append(cstr!("k"), name.as_str());
                pair.append(cstr!("v"), value);
                pairs.push(pair);
                check_size(pairs.as_bytes().len())?;
            }
            Ok(Some(RawBson::Array(pairs)))
        }
        (_, [value]) => {
            let reason = format!("it needs a document, not {}", type_of(value));
            Err(failed(operator, reason, 40_390))
        }
        _ => Ok(None),
    }
}

/// The whole numbers from a start to an end, without the end.
fn range(
    start: &Option<RawBson>,
    end: &Option<RawBson>,
    step: Option<&Option<RawBson>>,
) -> Result<Option<RawBson>, Error> {
    let operator = Operator::Range;
    let int = |value, (of_type, of_number)| int(operator, value, of_type, of_number);
    let mut at = int(start, (34_443, 34_444))?;
    let end = int(end, (34_445, 34_446))?;
    let step = step.map_or(Ok(1), |step| int(step, (34_447, 34_448)))?;
    if step == 0 {
        return Err(failed(operator, "its step must not be 0", 34_449));
    }
    let mut range = RawArrayBuf::new();
    while step > 0 && at < end || step < 0 && at > end {
        // It is between two numbers of 32 bits.
        range.push(i32::try_from(at).unwrap_or_default());
        if range.as_bytes().len() > MAX_VALUE {
            let reason = format!("its numbers have more than {MAX_VALUE} bytes");
            return Err(failed(operator, reason, code::EXCEEDED_MEMORY_LIMIT));
        }
        at = at.saturating_add(step);
    }
    Ok(Some(RawBson::Array(range)))
}

/// The document of pairs: all `[name, value]`, or all `{ k: name, v: value }`. The last value of a name holds.
fn to_object(array: &RawArray) -> Result<Option<RawBson>, Error> {
    let mut fields: Vec<(CString, RawBsonRef<'_>)> = Vec::new();
    let mut places: HashMap<&str, usize, ahash::RandomState> = HashMap::default();
    let mut has_documents = None;
    for element in array.into_iter().flatten() {
        let is_document = match (has_documents, element) {
            (Some(has_documents), _) => has_documents,
            (None, RawBsonRef::Document(_)) => true,
            (None, RawBsonRef::Array(_)) => false,
            (None, other) => return Err(wrong("arrays or documents", other, 40_398)),
        };
        has_documents = Some(is_document);
        let (name, value) = if is_document {
            pair_of_document(element)?
        } else {
            pair_of_array(element)?
        };
        match places.get(name) {
            Some(place) => fields[*place].1 = value,
            None => {
                places.insert(name, fields.len());
                fields.push((CString::try_from(name).map_err(malformed)?, value));
            }
        }
    }
    let mut object = RawDocumentBuf::new();
    for (name, value) in fields {
        object.append(name, value);
    }
    Ok(Some(RawBson::Document(object)))
}

fn pair_of_document(element: RawBsonRef<'_>) -> Result<(&str, RawBsonRef<'_>), Error> {
    let RawBsonRef::Document(document) = element else {
        return Err(wrong("documents only", element, 40_391));
    };
    let mut fields = document.iter().flatten();
    let (Some(first), Some(second), None) = (fields.next(), fields.next(), fields.next()) else {
        return Err(wrong("documents of `k` and `v`", element, 40_392));
    };
    let (key, value) = match (first.0.as_str(), second.0.as_str()) {
        ("k", "v") => (first.1, second.1),
        ("v", "k") => (second.1, first.1),
        _ => return Err(wrong("documents of `k` and `v`", element, 40_393)),
    };
    Ok((name(key, 40_394, 4_940_401)?, value))
}

fn pair_of_array(element: RawBsonRef<'_>) -> Result<(&str, RawBsonRef<'_>), Error> {
    let RawBsonRef::Array(array) = element else {
        return Err(wrong("arrays only", element, 40_396));
    };
    let mut pair = array.into_iter().flatten();
    let (Some(key), Some(value), None) = (pair.next(), pair.next(), pair.next()) else {
        return Err(wrong("arrays of a name and a value", element, 40_397));
    };
    Ok((name(key, 40_395, 4_940_400)?, value))
}

fn name(key: RawBsonRef<'_>, no_text: i32, nul: i32) -> Result<&str, Error> {
    match key {
        RawBsonRef::String(name) if name.contains('\0') => {
            Err(failed(Operator::ArrayToObject, "a name has a NUL", nul))
        }
        RawBsonRef::String(name) => Ok(name),
        other => Err(wrong("texts as names", other, no_text)),
    }
}

fn wrong(expected: &str, found: RawBsonRef<'_>, code: i32) -> Error {
    let found = type_of(&Some(found.into()));
    failed(
        Operator::ArrayToObject,
        format!("it needs {expected}, not {found}"),
        code,
    )
}
