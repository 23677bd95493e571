use std::collections::BTreeMap;

use bson::{
    Binary, Bson, DateTime, Document, RawBson, RawDocument, RawDocumentBuf, Timestamp, bson, doc,
    oid::ObjectId, rawdoc,
};
use odm_mql::formula::{Expression, FieldValue, Formula, Function, ValueType};
use serde::{Deserialize, Serialize};

use super::*;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Record {
    #[serde(rename = "_id", with = "stored_value")]
    id: RawBson,
    name: String,
    number: u64,
    small: i8,
    share: f64,
    is_set: bool,
    letter: char,
    owner: ObjectId,
    #[serde(with = "stored_value")]
    at: DateTime,
    #[serde(with = "serde_bytes")]
    bytes: Vec<u8>,
    #[serde(with = "stored_value")]
    any: Bson,
    #[serde(with = "stored_value")]
    all: Document,
    #[serde(with = "stored_value")]
    raw: RawDocumentBuf,
    #[serde(with = "stored_value")]
    no_date: Option<DateTime>,
    #[serde(
        default,
        with = "stored_value",
        skip_serializing_if = "Option::is_none"
    )]
    no_document: Option<Document>,
    missing: Option<String>,
    present: Option<i32>,
    pair: (i32, String),
    numbers: Vec<i64>,
    by_name: BTreeMap<String, Kind>,
    kinds: Vec<Kind>,
    #[serde(flatten)]
    flat: Flat,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Flat {
    flat: i32,
    names: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Wrapped(i32);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    Plain,
    One(Wrapped),
    Two(i32, String),
    Named { id: ObjectId },
}

/// A value of each type that is stored.
fn every_value() -> Bson {
    let id = ObjectId::from_bytes([7; 12]);
    let date = DateTime::from_millis(5);
    bson!({
        "date": date, "id": id, "array": [1, 2_i64, 3.5, Bson::Null, [id, date]], "text": "x", "min": Bson::MinKey,
        "binary": Binary { subtype: BinarySubtype::Uuid, bytes: vec![1; 16] },
        "bytes": Binary { subtype: BinarySubtype::Generic, bytes: vec![1] },
        "decimal": bson::Decimal128::from_bytes([1; 16]), "time": Timestamp { time: 1, increment: 2 },
        "pattern": Bson::RegularExpression(bson::Regex { pattern: bson::cstr!("x").into(), options: bson::cstr!("i").into() }),
    })
}

fn record() -> Record {
    let id = ObjectId::from_bytes([1; 12]);
    let at = DateTime::from_millis(1_700_000_000_000);
    let all = every_value().as_document().expect("a document").clone();
    Record {
        id: RawBson::ObjectId(id),
        name: "name".to_owned(),
        number: 1 << 40,
        small: -3,
        share: 0.5,
        is_set: true,
        letter: 'é',
        owner: id,
        at,
        bytes: vec![1, 2],
        any: every_value(),
        raw: RawDocumentBuf::try_from(&all).expect("a document"),
        all,
        no_date: None,
        no_document: None,
        missing: None,
        present: Some(4),
        pair: (1, "one".to_owned()),
        numbers: vec![1, 2, 1 << 40],
        by_name: BTreeMap::from([("a".to_owned(), Kind::Plain)]),
        kinds: vec![
            Kind::One(Wrapped(1)),
            Kind::Two(2, "two".to_owned()),
            Kind::Named { id },
        ],
        flat: Flat {
            flat: 1,
            names: vec!["a".to_owned()],
        },
    }
}

#[test]
fn what_is_written_is_read_as_by_bson() {
    let mut stored = bson::serialize_to_document(&record()).expect("a document");
    stored.insert("unknown", doc! { "a": [1, { "b": 2 }] });
    let stored = bson::serialize_to_vec(&stored).expect("bytes");
    let read: Record = decode(&stored).expect("it is read");
    assert_eq!(read, record());
    let by_bson: Record = bson::deserialize_from_slice(&stored).expect("bson reads it");
    assert_eq!(read, by_bson);
}

#[test]
fn a_record_is_written_as_by_bson() {
    let by_bson = bson::serialize_to_raw_document_buf(&record()).expect("a document");
    assert_eq!(crate::encode(&record()).expect("a document"), by_bson);
}

#[test]
fn the_constants_of_a_formula_have_every_type() {
    let formula = Formula {
        expression: Expression::Call(
            Function::Or,
            vec![
                Expression::Constant(every_value()),
                Expression::Field(FieldValue {
                    of: None,
                    path: "at".to_owned(),
                    ty: ValueType::Date,
                    default: Some(DateTime::from_millis(5).into()),
                }),
            ],
        ),
        result: ValueType::Bool,
    };
    let stored = crate::encode(&formula).expect("a document");
    let read: Formula = decode(stored.as_bytes()).expect("it is read");
    assert_eq!(read, formula);
}

#[test]
fn a_value_of_bson_of_another_type_is_refused() {
    #[derive(Debug, Deserialize)]
    struct Dated {
        #[serde(with = "stored_value")]
        #[allow(dead_code, reason = "its Debug text is compared")]
        at: DateTime,
    }
    let wrong = decode::<Dated>(rawdoc! { "at": "x" }.as_bytes()).unwrap_err();
    let wrong = wrong.to_string();
    assert!(wrong.contains("a value has the wrong type"), "{wrong}");
}

#[test]
fn the_requests_of_the_types_of_bson_are_refused() {
    #[derive(Debug, Deserialize)]
    struct Raw {
        #[allow(dead_code, reason = "its Debug text is compared")]
        raw: RawBson,
    }
    let refused = decode::<Raw>(rawdoc! { "raw": 1 }.as_bytes()).unwrap_err();
    let refused = refused.to_string();
    assert!(refused.contains("is read with `stored_value`"), "{refused}");
}

#[test]
fn what_cannot_be_read_is_refused_with_a_reason() {
    #[derive(Debug, Deserialize)]
    struct Small {
        #[allow(dead_code, reason = "its Debug text is compared")]
        a: i8,
    }
    let why = |document: &RawDocument| {
        let error = decode::<Small>(document.as_bytes()).unwrap_err();
        error.to_string()
    };
    let wrong = why(&rawdoc! { "a": "x" });
    assert!(
        wrong.contains("invalid type: string \"x\", expected i8"),
        "{wrong}"
    );
    let large = why(&rawdoc! { "a": 300 });
    assert!(
        large.contains("invalid value: integer `300`, expected i8"),
        "{large}"
    );
    let missing = why(&rawdoc! {});
    assert!(missing.contains("missing field `a`"), "{missing}");
    let mut damaged = rawdoc! { "a": 1 }.into_bytes();
    damaged[4] = 0x2f;
    assert!(decode::<Small>(&damaged).is_err());
    let unknown = decode::<BTreeMap<String, Kind>>(rawdoc! { "a": "Other" }.as_bytes());
    let unknown = unknown.unwrap_err().to_string();
    assert!(unknown.contains("unknown variant `Other`"), "{unknown}");
    assert!(decode::<BTreeMap<String, Kind>>(rawdoc! { "a": {} }.as_bytes()).is_err());
}
