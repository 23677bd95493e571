//! The names and codes of BSON types, and helpers of the parsers of MongoDB's forms.

use bson::{Bson, Document, RawBson, RawBsonRef, spec::ElementType};

use crate::{Error, error::code, number};

/// The greatest depth of a filter or a value in a request.
pub(super) const MAX_NESTING: usize = 180;

/// The greatest number of bytes of a computed value or document: it can refer to the whole document any number of times.
const MAX_COMPUTED: usize = 64 << 20;

/// Checks the number of bytes of a computed document.
pub(super) fn check_computed_size(bytes: usize) -> Result<(), Error> {
    match bytes > MAX_COMPUTED {
        true => Err(Error::TooLarge {
            limit: MAX_COMPUTED,
        }),
        false => Ok(()),
    }
}

const TYPES: [(&str, i32, ElementType); 21] = [
    ("minKey", -1, ElementType::MinKey),
    ("double", 1, ElementType::Double),
    ("string", 2, ElementType::String),
    ("object", 3, ElementType::EmbeddedDocument),
    ("array", 4, ElementType::Array),
    ("binData", 5, ElementType::Binary),
    ("undefined", 6, ElementType::Undefined),
    ("objectId", 7, ElementType::ObjectId),
    ("bool", 8, ElementType::Boolean),
    ("date", 9, ElementType::DateTime),
    ("null", 10, ElementType::Null),
    ("regex", 11, ElementType::RegularExpression),
    ("dbPointer", 12, ElementType::DbPointer),
    ("javascript", 13, ElementType::JavaScriptCode),
    ("symbol", 14, ElementType::Symbol),
    (
        "javascriptWithScope",
        15,
        ElementType::JavaScriptCodeWithScope,
    ),
    ("int", 16, ElementType::Int32),
    ("timestamp", 17, ElementType::Timestamp),
    ("long", 18, ElementType::Int64),
    ("decimal", 19, ElementType::Decimal128),
    ("maxKey", 127, ElementType::MaxKey),
];

/// The name of a type for `$type`.
pub(super) fn name(kind: ElementType) -> &'static str {
    TYPES
        .iter()
        .find(|(.., other)| *other == kind)
        .map_or("unknown", |(name, ..)| name)
}

/// The types that a name stands for.
pub(super) fn by_name(name: &str) -> Option<Vec<ElementType>> {
    if name == "number" {
        use ElementType::{Decimal128, Double, Int32, Int64};
        return Some(vec![Double, Int32, Int64, Decimal128]);
    }
    TYPES
        .iter()
        .find(|(other, ..)| *other == name)
        .map(|(.., kind)| vec![*kind])
}

/// The type of a code.
pub(super) fn by_code(code: i64) -> Option<ElementType> {
    TYPES
        .iter()
        .find(|(_, other, _)| i64::from(*other) == code)
        .map(|(.., kind)| *kind)
}

pub(super) fn bad(operator: &str, expected: &'static str) -> Error {
    bad_as(code::BAD_VALUE, operator, expected)
}

/// The same with another code than `BAD_VALUE`.
pub(super) fn bad_as(code: i32, operator: &str, expected: &'static str) -> Error {
    Error::BadOperand {
        operator: operator.to_owned(),
        expected,
        code,
    }
}

pub(super) fn unknown(code: i32, operator: &str) -> Error {
    Error::UnknownOperator {
        operator: operator.to_owned(),
        code,
    }
}

/// The raw form of a value in a request.
pub(super) fn to_raw(value: &Bson) -> Result<RawBson, Error> {
    check_nesting(value, MAX_NESTING)?;
    value
        .clone()
        .try_into()
        .map_err(|error: bson::error::Error| Error::Encode(error.to_string()))
}

/// The value of a raw one. A value from a request can always be decoded; any other that cannot be decoded becomes null.
pub(super) fn from_raw(value: &RawBson) -> Bson {
    Bson::try_from(value.as_raw_bson_ref()).unwrap_or(Bson::Null)
}

pub(super) fn check_nesting(value: &Bson, left: usize) -> Result<(), Error> {
    let Some(inner) = left.checked_sub(1) else {
        return Err(Error::TooDeep(MAX_NESTING));
    };
    match value {
        Bson::Document(document) => document
            .values()
            .try_for_each(|value| check_nesting(value, inner)),
        Bson::Array(array) => array
            .iter()
            .try_for_each(|value| check_nesting(value, inner)),
        Bson::JavaScriptCodeWithScope(code) => code
            .scope
            .values()
            .try_for_each(|value| check_nesting(value, inner)),
        _ => Ok(()),
    }
}

/// A whole number, of any numeric type.
pub(super) fn whole_number(value: &Bson) -> Option<i64> {
    number::whole(as_number(value)?)
}

/// The whole part of a number of any numeric type.
pub(super) fn truncated(value: &Bson) -> Option<i64> {
    number::truncated(as_number(value)?)
}

pub(super) fn as_number(value: &Bson) -> Option<RawBsonRef<'static>> {
    Some(match value {
        Bson::Int32(value) => RawBsonRef::Int32(*value),
        Bson::Int64(value) => RawBsonRef::Int64(*value),
        Bson::Double(value) => RawBsonRef::Double(*value),
        Bson::Decimal128(value) => RawBsonRef::Decimal128(*value),
        _ => return None,
    })
}

/// Whether a value counts as true.
pub(super) fn truthy(value: &Bson) -> bool {
    match value {
        Bson::Boolean(value) => *value,
        Bson::Int32(value) => *value != 0,
        Bson::Int64(value) => *value != 0,
        Bson::Double(value) => *value != 0.0,
        Bson::Null | Bson::Undefined => false,
        Bson::Decimal128(value) => value.to_string().parse::<f64>() != Ok(0.0),
        _ => true,
    }
}

/// Whether a document consists of operators, rather than of fields.
pub(super) fn is_operators(document: &Document) -> bool {
    document
        .keys()
        .next()
        .is_some_and(|key| key.starts_with('$') && !is_reference(document))
}

/// Whether a document is a value `{ $ref: .., $id: .. }`, in spite of its names.
fn is_reference(document: &Document) -> bool {
    document.contains_key("$ref") && document.contains_key("$id")
}
