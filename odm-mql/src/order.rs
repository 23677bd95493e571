//! MongoDB's order of BSON values.

use std::cmp::Ordering;

use bson::{
    RawArray, RawBinaryRef, RawBsonRef, RawDocument, RawDocumentBuf, raw::cstr, spec::BinarySubtype,
};

use crate::{
    Collation, fold,
    number::{Number, compare_doubles},
    steps,
};

/// Beyond this depth, which no stored document reaches, values are compared as bytes, so that a malicious value cannot exhaust the stack.
pub(super) const MAX_DEPTH: usize = 200;

/// The class of a type. Values of different classes are ordered by it, and never equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Class {
    // Zero is the end of a list in an encoded key, which every class must follow.
    MinKey = 0x08,
    Undefined = 0x10,
    Null = 0x18,
    Number = 0x20,
    String = 0x28,
    Document = 0x30,
    Array = 0x38,
    Binary = 0x40,
    ObjectId = 0x48,
    Boolean = 0x50,
    DateTime = 0x58,
    Timestamp = 0x60,
    Regex = 0x68,
    DbPointer = 0x70,
    Code = 0x78,
    CodeWithScope = 0x80,
    MaxKey = 0xf0,
}

impl Class {
    pub(super) fn of(value: RawBsonRef<'_>) -> Class {
        match value {
            RawBsonRef::MinKey => Class::MinKey,
            RawBsonRef::Undefined => Class::Undefined,
            RawBsonRef::Null => Class::Null,
            RawBsonRef::Int32(_)
            | RawBsonRef::Int64(_)
            | RawBsonRef::Double(_)
            | RawBsonRef::Decimal128(_) => Class::Number,
            RawBsonRef::String(_) | RawBsonRef::Symbol(_) => Class::String,
            RawBsonRef::Document(_) => Class::Document,
            RawBsonRef::Array(_) => Class::Array,
            RawBsonRef::Binary(_) => Class::Binary,
            RawBsonRef::ObjectId(_) => Class::ObjectId,
            RawBsonRef::Boolean(_) => Class::Boolean,
            RawBsonRef::DateTime(_) => Class::DateTime,
            RawBsonRef::Timestamp(_) => Class::Timestamp,
            RawBsonRef::RegularExpression(_) => Class::Regex,
            RawBsonRef::DbPointer(_) => Class::DbPointer,
            RawBsonRef::JavaScriptCode(_) => Class::Code,
            RawBsonRef::JavaScriptCodeWithScope(_) => Class::CodeWithScope,
            RawBsonRef::MaxKey => Class::MaxKey,
        }
    }
}

/// Sorts the elements of an array. The code of a sort is large, and here it is generated for all orders once.
pub(super) fn sort_elements(
    elements: &mut [RawBsonRef<'_>],
    order: &dyn Fn(RawBsonRef<'_>, RawBsonRef<'_>) -> Ordering,
) {
    elements.sort_by(|a, b| order(*a, *b));
}

/// Compares two values in the order in which MongoDB sorts them.
///
/// Numbers of all types compare by value, exactly, and so do strings and symbols by their bytes.
/// Documents compare field by field, in the order of the fields: first the type, then the name,
/// then the value. This is a total order: NaN equals NaN and is the least number.
pub fn compare(a: RawBsonRef<'_>, b: RawBsonRef<'_>) -> Ordering {
    compare_at(a, b, None, 0)
}

/// Compares two values as [`compare`] does, with the texts in the order of a collation.
#[doc(hidden)]
pub fn compare_by(collation: Option<&Collation>, a: RawBsonRef<'_>, b: RawBsonRef<'_>) -> Ordering {
    compare_at(a, b, collation, 0)
}

/// Compares two values as [`compare`] does, with case folding of texts.
pub(super) fn compare_folded(a: RawBsonRef<'_>, b: RawBsonRef<'_>) -> Ordering {
    use RawBsonRef::{String, Symbol};
    match (a, b) {
        (String(a) | Symbol(a), String(b) | Symbol(b)) => {
            a.chars().map(fold::char).cmp(b.chars().map(fold::char))
        }
        _ => compare(a, b),
    }
}

/// Whether two values are equal in the order of [`compare`]: `1` and `1.0` are.
pub fn equal(a: RawBsonRef<'_>, b: RawBsonRef<'_>) -> bool {
    compare(a, b).is_eq()
}

/// Whether two values are equal in the order of [`compare_by`].
pub(super) fn equal_by(
    collation: Option<&Collation>,
    a: RawBsonRef<'_>,
    b: RawBsonRef<'_>,
) -> bool {
    compare_by(collation, a, b).is_eq()
}

/// Whether `$lt`, `$lte`, `$gt` and `$gte` can hold between these values: both must be of one class of types.
pub fn same_type_bracket(a: RawBsonRef<'_>, b: RawBsonRef<'_>) -> bool {
    Class::of(a) == Class::of(b)
}

/// Whether the value is NaN, as a double or as a decimal.
pub fn is_nan(value: RawBsonRef<'_>) -> bool {
    match value {
        RawBsonRef::Double(value) => value.is_nan(),
        RawBsonRef::Decimal128(_) => Number::new(value).is_some_and(|number| number.is_nan()),
        _ => false,
    }
}

fn compare_at(
    a: RawBsonRef<'_>,
    b: RawBsonRef<'_>,
    collation: Option<&Collation>,
    depth: usize,
) -> Ordering {
    steps::step();
    use RawBsonRef::*;
    match (a, b) {
        (Int32(a), Int32(b)) => a.cmp(&b),
        (Int64(a), Int64(b)) => a.cmp(&b),
        (Int32(a), Int64(b)) => i64::from(a).cmp(&b),
        (Int64(a), Int32(b)) => a.cmp(&i64::from(b)),
        (Double(a), Double(b)) => compare_doubles(a, b),
        (String(a) | Symbol(a), String(b) | Symbol(b)) => match collation {
            None => a.as_bytes().cmp(b.as_bytes()),
            Some(collation) => collation.compare(a, b),
        },
        (ObjectId(a), ObjectId(b)) => a.bytes().cmp(&b.bytes()),
        (DateTime(a), DateTime(b)) => a.cmp(&b),
        (Boolean(a), Boolean(b)) => a.cmp(&b),
        (Document(a), Document(b)) => compare_documents(a, b, collation, depth),
        (Array(a), Array(b)) => compare_arrays(a, b, collation, depth),
        (Binary(a), Binary(b)) => binary_len(a)
            .cmp(&binary_len(b))
            .then_with(|| u8::from(a.subtype).cmp(&u8::from(b.subtype)))
            .then_with(|| a.bytes.cmp(b.bytes)),
        (Timestamp(a), Timestamp(b)) => (a.time, a.increment).cmp(&(b.time, b.increment)),
        (RegularExpression(a), RegularExpression(b)) => {
            (a.pattern, a.options).cmp(&(b.pattern, b.options))
        }
        (DbPointer(_), DbPointer(_)) => {
            let (a, b) = (pointer_bytes(a), pointer_bytes(b));
            a.len().cmp(&b.len()).then_with(|| a.cmp(&b))
        }
        (JavaScriptCode(a), JavaScriptCode(b)) => a.cmp(b),
        (JavaScriptCodeWithScope(a), JavaScriptCodeWithScope(b)) => a
            .code
            .cmp(b.code)
            .then_with(|| compare_documents(a.scope, b.scope, collation, depth)),
        (a, b) => match (Number::new(a), Number::new(b)) {
            (Some(a), Some(b)) => a.compare(&b),
            _ => Class::of(a).cmp(&Class::of(b)),
        },
    }
}

fn compare_documents(
    a: &RawDocument,
    b: &RawDocument,
    collation: Option<&Collation>,
    depth: usize,
) -> Ordering {
    if depth >= MAX_DEPTH {
        return a.as_bytes().cmp(b.as_bytes());
    }
    let (mut a, mut b) = (a.iter().flatten(), b.iter().flatten());
    loop {
        let order = match (a.next(), b.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some((a_name, a)), Some((b_name, b))) => Class::of(a)
                .cmp(&Class::of(b))
                .then_with(|| a_name.cmp(b_name))
                .then_with(|| compare_at(a, b, collation, depth + 1)),
        };
        if order.is_ne() {
            return order;
        }
    }
}

fn compare_arrays(
    a: &RawArray,
    b: &RawArray,
    collation: Option<&Collation>,
    depth: usize,
) -> Ordering {
    if depth >= MAX_DEPTH {
        return a.as_bytes().cmp(b.as_bytes());
    }
    let (mut a, mut b) = (a.into_iter().flatten(), b.into_iter().flatten());
    loop {
        let order = match (a.next(), b.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(a), Some(b)) => compare_at(a, b, collation, depth + 1),
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// The stored length, which includes the second length field of the old binary type.
pub(super) fn binary_len(binary: RawBinaryRef<'_>) -> usize {
    match binary.subtype {
        BinarySubtype::BinaryOld => binary.bytes.len() + 4,
        _ => binary.bytes.len(),
    }
}

/// The namespace and the id of a pointer, which are accessible only in a document.
pub(super) fn pointer_bytes(pointer: RawBsonRef<'_>) -> Vec<u8> {
    const HEAD: usize = 4 + 2 + 4; // document length, type and empty name, string length
    let mut document = RawDocumentBuf::new();
    document.append(cstr!(""), pointer);
    let bytes = document.as_bytes();
    bytes
        .get(HEAD..bytes.len() - 1)
        .unwrap_or_default()
        .to_vec()
}

#[cfg(test)]
mod tests {
    use bson::{Binary, Bson, DateTime, RawBson, Timestamp, doc, oid::ObjectId};

    use super::*;

    fn raw(value: impl Into<Bson>) -> RawBson {
        value.into().try_into().expect("valid BSON")
    }

    fn assert_ascending(values: Vec<Bson>) {
        let values: Vec<RawBson> = values.into_iter().map(raw).collect();
        for (i, a) in values.iter().enumerate() {
            for (j, b) in values.iter().enumerate() {
                let order = compare(a.as_raw_bson_ref(), b.as_raw_bson_ref());
                assert_eq!(order, i.cmp(&j), "{a:?} and {b:?}");
            }
        }
    }

    #[test]
    fn types_are_in_the_order_of_mongodb() {
        assert_ascending(vec![
            Bson::MinKey,
            Bson::Undefined,
            Bson::Null,
            Bson::Double(f64::NAN),
            Bson::Int32(7),
            Bson::Symbol("a".into()),
            Bson::String("b".into()),
            Bson::Document(doc! {}),
            Bson::Array(vec![]),
            Bson::Binary(Binary {
                subtype: BinarySubtype::Generic,
                bytes: vec![],
            }),
            Bson::ObjectId(ObjectId::from_bytes([0; 12])),
            Bson::Boolean(false),
            Bson::Boolean(true),
            Bson::DateTime(DateTime::from_millis(-1)),
            Bson::DateTime(DateTime::from_millis(0)),
            Bson::Timestamp(Timestamp {
                time: 0,
                increment: 9,
            }),
            Bson::Timestamp(Timestamp {
                time: u32::MAX,
                increment: 0,
            }),
            Bson::JavaScriptCode("x".into()),
            Bson::MaxKey,
        ]);
    }

    #[test]
    fn documents_compare_by_type_then_name_then_value() {
        assert_ascending(vec![
            Bson::Document(doc! {}),
            Bson::Document(doc! { "b": 1 }),
            Bson::Document(doc! { "b": 1, "a": 1 }),
            Bson::Document(doc! { "b": 2 }),
            Bson::Document(doc! { "c": 0 }),
            Bson::Document(doc! { "a": "" }),
        ]);
    }

    #[test]
    fn arrays_compare_element_by_element() {
        assert_ascending(vec![
            Bson::Array(vec![]),
            Bson::Array(vec![Bson::Int32(1)]),
            Bson::Array(vec![Bson::Int32(1), Bson::Int32(0)]),
            Bson::Array(vec![Bson::Int64(2)]),
            Bson::Array(vec![Bson::String(String::new())]),
        ]);
    }

    #[test]
    fn shorter_binaries_come_first() {
        let binary = |subtype, bytes: &[u8]| {
            Bson::Binary(Binary {
                subtype,
                bytes: bytes.to_vec(),
            })
        };
        assert_ascending(vec![
            binary(BinarySubtype::Generic, &[9]),
            binary(BinarySubtype::Generic, &[1, 1]),
            binary(BinarySubtype::Generic, &[1, 2]),
            binary(BinarySubtype::Uuid, &[0, 0]),
        ]);
    }

    #[test]
    fn equal_numbers_of_different_types_are_equal_within_documents() {
        let (a, b) = (raw(doc! { "a": [1, 2.0] }), raw(doc! { "a": [1.0, 2_i64] }));
        assert!(equal(a.as_raw_bson_ref(), b.as_raw_bson_ref()));
    }

    #[test]
    fn a_document_of_absurd_depth_is_compared_without_harm() {
        let mut document = bson::RawDocumentBuf::new();
        for _ in 0..5_000 {
            let mut outer = bson::RawDocumentBuf::new();
            outer.append(bson::raw::cstr!("a"), document);
            document = outer;
        }
        let value = RawBson::Document(document);
        assert!(equal(value.as_raw_bson_ref(), value.as_raw_bson_ref()));
    }
}
