//! Values for the property tests of this layer.

use bson::{
    Binary, Bson, DateTime, Decimal128, Document, RawBson, RawBsonRef, RawDocument, RawDocumentBuf,
    Regex, Timestamp, oid::ObjectId, raw::CString, spec::BinarySubtype,
};
use proptest::prelude::*;

use super::path::compound_index_values;

/// The values of a document in an index on one path, and whether the path met an array.
pub(super) fn index_values<'a>(
    document: &'a RawDocument,
    path: &str,
) -> (Vec<RawBsonRef<'a>>, bool) {
    let index = compound_index_values(document, &[path]).expect("one path meets one array");
    (
        index.keys.into_iter().flatten().collect(),
        index.multikey[0],
    )
}

pub(super) fn raw(document: Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).expect("valid BSON")
}

pub(super) fn raw_value(value: impl Into<Bson>) -> RawBson {
    value.into().try_into().expect("valid BSON")
}

/// Numbers that lie close together, in all four types.
pub(super) fn number() -> impl Strategy<Value = Bson> {
    let base = prop_oneof![
        Just(0_i128),
        -3..3_i128,
        Just(1 << 53),
        Just(-(1 << 53)),
        Just(1 << 62),
        Just(i64::MAX as i128),
        Just(i64::MIN as i128),
    ];
    let near = (base, -3..4_i128).prop_map(|(base, offset)| base + offset);
    let double = prop_oneof![
        near.clone().prop_map(|value| value as f64),
        near.clone().prop_map(|value| (value as f64).next_up()),
        near.clone().prop_map(|value| value as f64 / 10.0),
        Just(f64::NAN),
        Just(-0.0),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(5e-324),
        Just(f64::MAX),
    ];
    let decimal = prop_oneof![
        (near.clone(), -3..3_i32).prop_map(|(value, exponent)| format!("{value}E{exponent}")),
        (near.clone(), -6176..6000_i32).prop_map(|(value, exponent)| format!("{value}E{exponent}")),
        near.clone().prop_map(|value| format!("{value}.0")),
        near.clone()
            .prop_map(|value| format!("{}", (value as f64) / 10.0)),
        Just("NaN".to_owned()),
        Just("Infinity".to_owned()),
        Just("-Infinity".to_owned()),
        Just("-0".to_owned()),
    ];
    prop_oneof![
        near.clone().prop_map(|value| Bson::Int32(value as i32)),
        near.prop_map(|value| Bson::Int64(value as i64)),
        double.prop_map(Bson::Double),
        decimal.prop_map(|text| {
            let value: Decimal128 = text.parse().unwrap_or(Decimal128::from_bytes([0; 16]));
            Bson::Decimal128(value)
        }),
        any::<[u8; 16]>().prop_map(|bytes| Bson::Decimal128(Decimal128::from_bytes(bytes))),
    ]
}

fn scalar() -> impl Strategy<Value = Bson> {
    let text = "[\u{0}\u{1}\u{2}a\u{ff}]{0,4}";
    let binary = (any::<u8>(), prop::collection::vec(0..3_u8, 0..4)).prop_map(|(kind, bytes)| {
        let subtype = match kind % 4 {
            0 => BinarySubtype::BinaryOld,
            1 => BinarySubtype::Uuid,
            2 => BinarySubtype::UserDefined(kind | 0x80),
            _ => BinarySubtype::Generic,
        };
        Bson::Binary(Binary { subtype, bytes })
    });
    prop_oneof![
        8 => number(),
        4 => text.prop_map(Bson::String),
        1 => text.prop_map(Bson::Symbol),
        1 => text.prop_map(Bson::JavaScriptCode),
        1 => (text, 0..3_i32).prop_map(|(code, value)| {
            let scope = bson::doc! { "x": value };
            Bson::JavaScriptCodeWithScope(bson::JavaScriptCodeWithScope { code, scope })
        }),
        2 => binary,
        1 => any::<bool>().prop_map(Bson::Boolean),
        2 => any::<i64>().prop_map(|millis| Bson::DateTime(DateTime::from_millis(millis))),
        1 => (0..3_u32, any::<u32>())
            .prop_map(|(time, increment)| Bson::Timestamp(Timestamp { time, increment })),
        1 => any::<[u8; 12]>().prop_map(|bytes| Bson::ObjectId(ObjectId::from_bytes(bytes))),
        1 => ("[\u{1}ab]{0,2}", "i?m?").prop_map(|(pattern, options)| {
            let cstring = |text: String| CString::try_from(text).expect("without NUL");
            Bson::RegularExpression(Regex { pattern: cstring(pattern), options: cstring(options) })
        }),
        1 => Just(Bson::Null),
        1 => Just(Bson::Undefined),
        1 => Just(Bson::MinKey),
        1 => Just(Bson::MaxKey),
    ]
}

/// Values of all types, nested.
pub(super) fn value() -> impl Strategy<Value = Bson> {
    scalar().prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Bson::Array),
            prop::collection::vec(("[\u{1}ab]{0,2}", inner), 0..4)
                .prop_map(|fields| Bson::Document(fields.into_iter().collect())),
        ]
    })
}

/// Small documents with few names and few values, so that filters match them and updates meet existing fields.
pub(super) fn document() -> impl Strategy<Value = Document> {
    fields(small_nested())
}

pub(super) fn small_nested() -> impl Strategy<Value = Bson> + Clone {
    small_value()
        .prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Bson::Array),
                fields(inner).prop_map(Bson::Document),
            ]
        })
        .boxed()
}

fn fields(value: impl Strategy<Value = Bson>) -> impl Strategy<Value = Document> {
    prop::collection::vec((name(), value), 0..4).prop_map(|fields| fields.into_iter().collect())
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["a", "b", "c", "0", "1"]
}

pub(super) fn small_value() -> impl Strategy<Value = Bson> + Clone {
    prop_oneof![
        (0..3_i32).prop_map(Bson::Int32),
        (0..3_i64).prop_map(Bson::Int64),
        prop_oneof![Just(0.0), Just(1.0), Just(1.5), Just(f64::NAN)].prop_map(Bson::Double),
        "[ab]{0,2}".prop_map(Bson::String),
        Just(Bson::Null),
        any::<bool>().prop_map(Bson::Boolean),
    ]
    .boxed()
}

/// Dotted paths of one to three of the names in [`document`].
pub(super) fn path() -> impl Strategy<Value = String> {
    prop::collection::vec(name(), 1..4).prop_map(|names| names.join("."))
}
