//! The property of the decoder: unless it gives up, it reads the same values as `bson`, and refuses the same ones.

#![allow(dead_code, reason = "values are compared by their Debug texts")]

use std::{borrow::Cow, cell::RefCell, collections::BTreeMap, fmt::Debug};

use bson::{
    Binary, Bson, Decimal128, Document, RawArrayBuf, RawBson, RawDeserializer, RawDocument,
    RawDocumentBuf, Regex, Timestamp, doc, serde_helpers::HumanReadable, spec::BinarySubtype,
};
use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
    test_runner::{RngAlgorithm, TestRng, TestRunner},
};
use serde::{Deserialize, de::IgnoredAny};

use super::*;
use crate::model::{
    Cold, DateTime, ObjectId,
    read::{Unreadable, dotted, read_slowly},
};

/// How often a type was decoded, was refused, and was left to `bson`.
#[derive(Debug, Default, PartialEq)]
struct Tally {
    decoded: usize,
    refused: usize,
    gave_up: usize,
}

fn compare<T: de::DeserializeOwned + Debug>(bytes: &[u8], tally: &mut Tally) {
    let by_bson = || bson::deserialize_from_slice::<T>(bytes);
    match decode::<T>(bytes) {
        Ok(value) => {
            tally.decoded += 1;
            assert_eq!(format!("{value:?}"), format!("{:?}", by_bson().unwrap()));
        }
        Err(Undecoded::Refused) => {
            tally.refused += 1;
            assert!(by_bson().is_err(), "refused: {:?}", by_bson());
        }
        Err(Undecoded::GaveUp) => tally.gave_up += 1,
    }
    // With damaged bytes `bson` lets types that go on after an error do so for ever.
    if bson::deserialize_from_slice::<Document>(bytes).is_ok() {
        compare_slow::<T>(RawDocument::from_bytes(bytes).unwrap());
    }
}

/// Compares the value that a type reads from an erased deserializer, and the error with its path, with the result of the deserializer
/// itself.
fn compare_slow<T: de::DeserializeOwned + Debug>(document: &RawDocument) {
    // `Kept` types hold the text of an error, in which the prefix by `bson` may differ. A
    // `NamesOnly` type gets the name of the one field of an object id from `bson` again and again.
    let name = std::any::type_name::<T>();
    if name.contains("Kept") || name.contains("NamesOnly") {
        return;
    }
    let erased = read_slowly::<T>(document);
    let plain = RawDeserializer::new(document.as_bytes()).map(serde_path_to_error::deserialize);
    match (erased, plain) {
        (Ok(erased), Ok(Ok(plain))) => {
            let plain: T = plain;
            assert_eq!(format!("{erased:?}"), format!("{plain:?}"));
        }
        (Err(erased), Ok(Err(plain))) => {
            let path = dotted(plain.path());
            let plain = Unreadable::new(path, plain.into_inner());
            assert_eq!(erased.path, plain.path);
            assert!(erased.reason.contains(&plain.reason), "{erased} {plain}");
        }
        (Err(_), Err(_)) => {}
        (erased, plain) => panic!("{erased:?} {plain:?}"),
    }
}

#[derive(Debug, Deserialize)]
struct One<T> {
    a: T,
}

#[derive(Debug, Deserialize)]
struct Newtype(i32);

#[derive(Debug, Deserialize)]
struct Tuple(i32, String);

#[derive(Debug, Deserialize)]
struct Unit {}

#[derive(Debug, Deserialize)]
enum Tagged {
    Plain,
    One(i32),
    Two(i32, String),
    Named { a: i32 },
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind")]
enum Inside {
    Plain,
    Named { a: DateTime },
    Document(BTreeMap<String, Bson>),
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", content = "a")]
enum Beside {
    Plain,
    One(i32),
    Named { a: ObjectId },
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Number(i32),
    Date(DateTime),
    Id(ObjectId),
    Text(String),
    Named { a: bool },
    Any(Bson),
}

#[derive(Debug, Deserialize)]
struct Flat {
    b: Option<i32>,
    #[serde(flatten)]
    rest: BTreeMap<String, Bson>,
}

#[derive(Debug, Deserialize)]
struct FlatDates {
    #[serde(flatten)]
    rest: One<DateTime>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Strict {
    #[serde(alias = "b")]
    a: Bson,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Loose {
    a: i32,
    #[serde(rename = "b")]
    c: Option<String>,
    #[serde(skip)]
    d: u8,
}

#[derive(Debug, Deserialize)]
struct Hex {
    #[serde(rename = "$oid")]
    oid: Text,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
struct Text(String);

#[derive(Debug, Deserialize)]
struct Date {
    #[serde(rename = "$date")]
    date: Long,
}

#[derive(Debug, Deserialize)]
struct Long {
    #[serde(rename = "$numberLong")]
    long: Text,
}

#[derive(Debug, Deserialize)]
struct BinaryParts {
    #[serde(rename = "$binary")]
    binary: Parts,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parts {
    sub_type: String,
    base64: String,
}

#[derive(Debug, Deserialize)]
struct TextBinary {
    #[serde(rename = "$binary")]
    binary: BTreeMap<String, Text>,
}

/// Takes any error for none.
#[derive(Debug)]
struct Forgiving<T>(Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Forgiving<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Forgiving(T::deserialize(deserializer).ok()))
    }
}

/// The bytes that a visitor gets.
#[derive(Debug)]
struct Bytes(Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfBytes;

        impl Visitor<'_> for OfBytes {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }
        }

        deserializer.deserialize_byte_buf(OfBytes)
    }
}

/// Keeps the text of an error.
#[derive(Debug)]
struct Kept(Result<i32, String>);

impl<'de> Deserialize<'de> for Kept {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Kept(
            i32::deserialize(deserializer).map_err(|error| error.to_string()),
        ))
    }
}

/// Decodes another document, at which the decoder gives up.
#[derive(Debug)]
struct Nesting(i32);

impl<'de> Deserialize<'de> for Nesting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let rare = bson::rawdoc! { "a": Timestamp { time: 1, increment: 2 } };
        let inner = decode::<One<Timestamp>>(rare.as_bytes());
        assert_eq!(inner.map(drop), Err(Undecoded::GaveUp));
        i32::deserialize(deserializer).map(Nesting)
    }
}

/// Types that use the access to a map, a sequence or an enum in a way of their own.
macro_rules! visitors {
    ($($(#[$doc:meta])* $name:ident: $how:ident, $visit:ident<$access:ident> |$data:pat_param| $body:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Debug)]
        struct $name(String);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Using;

                impl<'de> Visitor<'de> for Using {
                    type Value = String;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("anything")
                    }

                    fn $visit<A: $access<'de>>(self, $data: A) -> Result<String, A::Error> {
                        $body
                    }
                }

                visitors!($how deserializer).map($name)
            }
        }
    )* };
    (any $deserializer:ident) => { $deserializer.deserialize_any(Using) };
    (enum_ $deserializer:ident) => { $deserializer.deserialize_enum("E", &["x"], Using) };
}

visitors! {
    /// Goes on after errors.
    Stubborn: any, visit_seq<SeqAccess> |mut data| {
        let mut read = Vec::new();
        loop {
            match data.next_element::<i32>() {
                Ok(Some(element)) => read.push(element),
                Ok(None) => return Ok(format!("{read:?}")),
                Err(_) => {}
            }
        }
    };
    Hint: any, visit_seq<SeqAccess> |mut data| {
        let hint = data.size_hint();
        while data.next_element::<IgnoredAny>()?.is_some() {}
        Ok(format!("{hint:?}"))
    };
    FirstElement: any, visit_seq<SeqAccess> |mut data| Ok(format!("{:?}", data.next_element::<Bson>()?));
    NamesOnly: any, visit_map<MapAccess> |mut data| {
        let mut names = Vec::new();
        while let Some(name) = data.next_key::<String>()? {
            names.push(name);
        }
        Ok(format!("{names:?}"))
    };
    ValueTwice: any, visit_map<MapAccess> |mut data| {
        let name = data.next_key::<String>()?;
        let (first, second) = (data.next_value::<Bson>(), data.next_value::<Bson>());
        Ok(format!("{name:?} {:?} {:?}", first.ok(), second.ok()))
    };
    ValueAfterEnd: any, visit_map<MapAccess> |mut data| {
        while data.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(format!("{:?}", data.next_value::<Bson>().ok()))
    };
    BorrowedVariant: enum_, visit_enum<EnumAccess> |data| {
        let (name, _) = data.variant::<&'de str>()?;
        Ok(name.to_owned())
    };
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
enum Name {
    #[serde(rename = "$oid")]
    Oid,
    #[serde(rename = "a")]
    A,
}

/// Compares all types, as a field and, where documents are read as it, as a document.
macro_rules! compare_all {
    ($bytes:expr, $tallies:expr; fields: $($field:ty),+; documents: $($document:ty),+ $(,)?) => {{
        $(compare::<One<$field>>($bytes, $tallies.entry(stringify!($field)).or_default());)+
        $(compare::<One<Vec<$field>>>($bytes, &mut Tally::default());)+
        $(compare::<One<Forgiving<$field>>>($bytes, &mut Tally::default());)+
        $(compare::<$document>($bytes, $tallies.entry(concat!("document ", stringify!($document))).or_default());)+
    }};
}

type Tallies = BTreeMap<&'static str, Tally>;

fn compare_types(bytes: &[u8], tallies: &mut Tallies) {
    compare_all!(bytes, tallies;
        fields: i8, i16, i32, i64, i128, u8, u16, u32, u64, f32, f64, bool, char, String, (), Box<str>,
            Cow<'static, str>, Option<i32>, Option<Option<String>>, Vec<i32>, Vec<Option<String>>, [i32; 2],
            (i32, String), BTreeMap<String, i32>, BTreeMap<i32, i32>, BTreeMap<char, Bson>, Bytes, IgnoredAny,
            Newtype, Tuple, Unit, Tagged, Inside, Beside, Untagged, Flat, FlatDates, Strict, Loose, Hex, Date,
            BinaryParts, TextBinary, Kept, Stubborn, Hint, FirstElement, NamesOnly, ValueTwice, ValueAfterEnd,
            BorrowedVariant, BTreeMap<Name, Text>, BTreeMap<Text, String>, BTreeMap<String, Forgiving<i32>>,
            Nesting, One<i64>, Vec<One<i32>>, DateTime, ObjectId, Cold<i32>,
            Bson, Document, bson::DateTime, bson::oid::ObjectId, bson::Uuid, Binary, Decimal128, Timestamp, Regex,
            RawBson, RawDocumentBuf, RawArrayBuf, HumanReadable<bson::DateTime>, serde_json::Value;
        documents: Tagged, Inside, Beside, Untagged, Flat, FlatDates, Strict, Loose, Document, RawDocumentBuf,
            BTreeMap<String, Bson>, BTreeMap<String, i32>, IgnoredAny, Newtype, i32, Option<One<i32>>,
            serde_json::Value,
    );
}

/// A value of any type; types that are common in documents are more frequent.
fn value() -> impl Strategy<Value = Bson> {
    let common = prop_oneof![
        prop_oneof![-1..4i32, any::<i32>()].prop_map(Bson::Int32),
        prop_oneof![-1..300i64, any::<i64>()].prop_map(Bson::Int64),
        any::<f64>().prop_map(Bson::Double),
        select(vec![
            "",
            "x",
            "Plain",
            "Named",
            "3",
            "One",
            "é",
            "2014-03-28T09:42:41.382Z"
        ])
        .prop_map(|text| Bson::String(text.into())),
        ".{0,80}".prop_map(Bson::String),
        any::<bool>().prop_map(Bson::Boolean),
        Just(Bson::Null),
        any::<[u8; 12]>().prop_map(|id| Bson::ObjectId(bson::oid::ObjectId::from_bytes(id))),
        prop_oneof![0..2_000_000_000_000i64, any::<i64>()]
            .prop_map(|millis| Bson::DateTime(bson::DateTime::from_millis(millis))),
        any::<[u8; 16]>().prop_map(|bytes| Bson::Decimal128(Decimal128::from_bytes(bytes))),
        (any::<u8>(), vec(any::<u8>(), 0..20)).prop_map(|(subtype, bytes)| {
            let subtype = [subtype, 0, 0, 0, 2, 4, 4, 5][bytes.len() % 8];
            binary(BinarySubtype::from(subtype), bytes)
        }),
        any::<[u8; 16]>().prop_map(|bytes| binary(BinarySubtype::Uuid, bytes.to_vec())),
    ];
    let rare = select(vec![
        Bson::Timestamp(Timestamp {
            time: 1,
            increment: 2,
        }),
        Bson::Undefined,
        Bson::MinKey,
        Bson::MaxKey,
        Bson::Symbol("x".into()),
        Bson::JavaScriptCode("x".into()),
        Bson::RegularExpression(Regex {
            pattern: bson::cstr!("x").into(),
            options: bson::cstr!("i").into(),
        }),
    ]);
    let leaf = prop_oneof![30 => common, 1 => rare];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Bson::Array),
            vec(prop_oneof![0..3i32].prop_map(Bson::Int32), 0..3).prop_map(Bson::Array),
            document(inner).prop_map(Bson::Document),
            shaped().prop_map(Bson::Document),
            Just(bson::bson!([1, "x"])),
        ]
    })
}

fn binary(subtype: BinarySubtype, bytes: Vec<u8>) -> Bson {
    Bson::Binary(Binary { subtype, bytes })
}

/// Documents of the types that random names and values rarely make.
fn shaped() -> impl Strategy<Value = Document> {
    let date = bson::DateTime::from_millis(5);
    let id = bson::oid::ObjectId::from_bytes([7; 12]);
    select(vec![
        doc! { "kind": "Plain" },
        doc! { "kind": "Named", "a": date },
        doc! { "kind": "Document", "a": id, "b": { "a": date } },
        doc! { "kind": "One", "a": 3 },
        doc! { "kind": "Named", "a": { "a": id } },
        doc! { "Two": [1, "x"] },
        doc! { "Named": { "a": 1 } },
        doc! { "a": date },
        doc! { "$oid": "x" },
        doc! { "$date": { "$numberLong": "5" } },
        doc! { "$binary": { "subType": "00", "base64": "" } },
        doc! { "a": "x" },
        doc! { "3": 4 },
        doc! { "é": 4 },
    ])
}

/// A document with the names that the types have.
fn document(value: impl Strategy<Value = Bson>) -> impl Strategy<Value = Document> {
    let names = [
        "a", "a", "a", "b", "kind", "One", "Two", "Named", "Plain", "é", "$oid", "$date",
    ];
    vec((select(names.to_vec()), value), 0..4).prop_map(|fields| {
        fields
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    })
}

/// The bytes of a document, possibly with changed bytes or cut.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let damage = prop_oneof![
        3 => Just(vec![]),
        1 => vec((any::<Index>(), any::<u8>()), 1..3),
    ];
    let cut = proptest::option::weighted(0.05, any::<Index>());
    let document = prop_oneof![9 => document(value()), 1 => shaped()];
    (document, damage, cut).prop_map(|(document, damage, cut)| {
        let mut bytes = bson::serialize_to_vec(&document).expect("a document");
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.map_or(bytes.len(), |cut| cut.index(bytes.len())));
        bytes
    })
}

/// `PROPTEST_CASES=1000000` tries more, always of the same sequence.
#[test]
fn what_is_decoded_and_what_is_refused_is_so_by_bson() {
    let config = ProptestConfig {
        cases: ProptestConfig::default().cases.max(3_000),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let tallies = RefCell::new(Tallies::new());
    let outcome = TestRunner::new_with_rng(config, rng).run(&bytes(), |bytes| {
        compare_types(&bytes, &mut tallies.borrow_mut());
        Ok(())
    });
    outcome.unwrap();
    // Nothing is read as these, or by `bson` alone.
    let exceptions = [
        "i128",
        "document Newtype",
        "document i32",
        "HumanReadable<bson::DateTime>",
        "Regex",
        "Timestamp",
    ];
    let is_exception = |name: &&str| name.contains("Raw") || exceptions.contains(name);
    let tallies = tallies.into_inner().into_iter();
    let wrong = tallies.filter(|(name, tally)| (tally.decoded == 0) != is_exception(name));
    assert_eq!(wrong.collect::<Vec<_>>(), []);
}
