//! The forms of the files of other programs: extended JSON of old and new programs, in lines and in a list, and BSON.

use odm::{
    Embedded, ErrorKind,
    bson::{self, Bson, Document, RawDocumentBuf, doc},
    prelude::*,
};
use proptest::{
    prelude::*,
    test_runner::{Config, TestCaseError, TestRunner},
};
use tests::stored;

use super::models::{Anything, Things};

/// The stored documents of a file, in the order of `_id`s.
async fn imported(file: &[u8]) -> odm::Result<Vec<RawDocumentBuf>> {
    let store = Embedded::memory().await?;
    let things = Things::open(store.clone()).await?;
    things.import_files().file::<Anything>(file).await?;
    Ok(stored(&store, "anything").await)
}

/// The stored value of a value in a line.
async fn read(value: &str) -> Bson {
    let line = format!(r#"{{"_id":1,"value":{{"x":{value}}}}}"#);
    let stored = imported(line.as_bytes()).await.unwrap();
    let stored = Document::try_from(&*stored[0]).unwrap();
    stored.get_document("value").unwrap().get("x").unwrap().clone()
}

#[tokio::test]
async fn all_shapes_of_a_file_store_the_same() {
    let first = r#"{"_id":1,"value":{"a":"} ] \" \\","b":[{"$numberInt":"2"}]}}"#;
    let second = r#"{"_id":2,"value":{"é":{"$date":"2021-01-01T00:00:00Z"}}}"#;
    let pretty = |json: &str| {
        json.replace("{\"value\"", "{\n\t\"value\"")
            .replace(",\"", ",\r\n\t\"")
            .replace("}}", "}\n}")
    };
    let documents = [
        doc! { "_id": 1, "value": { "a": "} ] \" \\", "b": [2] } },
        doc! { "_id": 2, "value": { "é": bson::DateTime::from_millis(1_609_459_200_000) } },
    ];
    let dump: Vec<u8> = documents.iter().flat_map(|document| document.to_vec().unwrap()).collect();
    let expected = documents.map(|document| RawDocumentBuf::try_from(&document).unwrap());
    for file in [
        format!("{first}\n{second}\n"),
        format!("{first}\n{second}"),
        format!("\u{feff}{first}\r\n\r\n  \t\r\n{second}\r\n\n"),
        format!("{first}{second}"),
        format!("{}\n{}\n", pretty(first), pretty(second)),
        format!("[{first},{second}]\n"),
        format!("\u{feff}\n [\n{first}\n,\r\n{second}\n]\n\n"),
        format!("[{},\n{}\n]", pretty(first), pretty(second)),
    ] {
        assert_eq!(imported(file.as_bytes()).await.unwrap(), expected, "{file}");
    }
    assert_eq!(imported(&dump).await.unwrap(), expected);
}

#[tokio::test]
async fn a_file_without_documents_stores_none() {
    for file in ["", "\n\n", "\u{feff}", "[]", " [ ]\n"] {
        assert_eq!(imported(file.as_bytes()).await.unwrap().len(), 0, "{file:?}");
    }
}

#[tokio::test]
async fn dates_and_numbers_of_old_programs_are_stored_as_what_they_are() {
    let new_year = Bson::DateTime(bson::DateTime::from_millis(1_609_459_200_000));
    for (value, expected) in [
        (r#"{"$date":1609459200000}"#, new_year.clone()),
        (r#"{"$date":"2021-01-01T00:00:00.000+0000"}"#, new_year.clone()),
        (r#"{"$date":"2021-01-01T02:00:00.000+0200"}"#, new_year.clone()),
        (r#"{"$date":"2021-01-01T02:00:00+02:00"}"#, new_year.clone()),
        (r#"{"$date":{"$numberLong":"1609459200000"}}"#, new_year),
        (r#"{"$numberLong":5}"#, Bson::Int64(5)),
        (r#"{"$numberLong":"5"}"#, Bson::Int64(5)),
        ("5", Bson::Int32(5)),
        ("5000000000", Bson::Int64(5_000_000_000)),
        ("5.0", Bson::Double(5.0)),
        ("-0.0", Bson::Double(-0.0)),
        ("0.1", Bson::Double(0.1)),
        ("123456789012345678901234567890", Bson::Double(123_456_789_012_345_678_901_234_567_890.0)),
        (r#"{"$numberDecimal":"1.10"}"#, Bson::Decimal128("1.10".parse().unwrap())),
        (
            r#"{"$binary":"AP8=","$type":"00"}"#,
            Bson::Binary(bson::Binary {
                subtype: bson::spec::BinarySubtype::Generic,
                bytes: vec![0, 255],
            }),
        ),
        (
            r#"{"$uuid":"c8edabc3-f738-4ca3-b68d-ab92a91478a3"}"#,
            Bson::Binary(
                bson::Uuid::parse_str("c8edabc3-f738-4ca3-b68d-ab92a91478a3").unwrap().into(),
            ),
        ),
        (
            r#"{"$regex":"^a","$options":"i"}"#,
            Bson::RegularExpression(bson::Regex {
                pattern: bson::cstr!("^a").into(),
                options: bson::cstr!("i").into(),
            }),
        ),
        (
            r#"{"$timestamp":{"t":7,"i":1}}"#,
            Bson::Timestamp(bson::Timestamp { time: 7, increment: 1 }),
        ),
        (r#"{"$undefined":true}"#, Bson::Undefined),
        (
            r#"{"$ref":"a","$id":{"$oid":"65a1b2c3d4e5f60718293a4b"},"$db":"b"}"#,
            Bson::Document(doc! {
                "$ref": "a", "$id": bson::oid::ObjectId::parse_str("65a1b2c3d4e5f60718293a4b").unwrap(), "$db": "b",
            }),
        ),
    ] {
        let stored = read(value).await;
        // `==` ignores the sign of a zero.
        assert_eq!(format!("{stored:?}"), format!("{expected:?}"), "{value}");
    }
}

#[tokio::test]
async fn what_is_no_json_is_refused_with_its_line() {
    let line = r#"{"_id":1,"value":{}}"#;
    let utf_16 =
        |to_bytes: fn(u16) -> [u8; 2]| line.encode_utf16().flat_map(to_bytes).collect::<Vec<u8>>();
    for (file, says) in [
        (b"_id,name\n1,a\n".to_vec(), "line 1: the file is no JSON: it begins with `_`"),
        (b"\"a\"".to_vec(), "line 1: the file is no JSON: it begins with `\"`"),
        (b"\x1f\x8b\x08\x00".to_vec(), "offset 0: the file is compressed by gzip"),
        (b"\x6d\xe2\x99\x81\x00".to_vec(), "offset 0: the file is an archive of mongodump"),
        (utf_16(u16::to_le_bytes), "offset 0: the file is text in UTF-16"),
        (utf_16(u16::to_be_bytes), "offset 0: the file is text in UTF-16"),
        (
            [b"\xff\xfe".to_vec(), utf_16(u16::to_le_bytes)].concat(),
            "offset 0: the file is text in UTF-16",
        ),
        (
            [b"\xfe\xff".to_vec(), utf_16(u16::to_be_bytes)].concat(),
            "offset 0: the file is text in UTF-16",
        ),
        (
            format!("{line}\n{line},\n{line}").into(),
            "line 2, column 21: `,` is here, and not a document",
        ),
        (format!("{line}\n5\n").into(), "line 2: `5` is here, and not a document"),
        (
            format!("{line}\n\n{{\"_id\":2,\"a\"}}").into(),
            "line 3: the document is no extended JSON: expected `:`, at line 3, column 13",
        ),
        (
            format!("{line}\n{{\"_id\":2,\n\"a\":\n x}}").into(),
            "line 2: the document is no extended JSON: expected value, at line 4, column 2",
        ),
        (
            format!("{line}\n{{\"_id\":2,\"a\":\"x\n{line}").into(),
            "line 2: the document is no extended JSON: control character",
        ),
        (
            format!("{line}\n{{\"_id\":2,\n{line}").into(),
            "line 2: the document is no extended JSON: key must be a string, at line 3, column 1",
        ),
        (
            format!("{line}\n{{\"_id\":2").into(),
            "line 2: the document is no extended JSON: EOF while parsing",
        ),
        (format!("{line}\n{{\"_id\":2]}}").into(), "line 2: the document is no extended JSON: "),
        (
            format!("{line}\n{{\"_id\":NaN}}").into(),
            "line 2: the document is no extended JSON: expected value",
        ),
        (
            format!("{line}\n{{\"_id\":Infinity}}").into(),
            "line 2: the document is no extended JSON: expected value",
        ),
        (
            [line.as_bytes(), b"\n{\"_id\":\"\xff\"}"].concat(),
            "line 2: the document is no extended JSON: invalid unicode",
        ),
        (
            format!("{line}\n{{\"$oid\":\"65a1b2c3d4e5f60718293a4b\"}}").into(),
            "line 2: the document is no extended JSON: a document expected",
        ),
        (
            format!("{line}\n{{\"_id\":2,\"value\":{{\"a\":[{{\"b\":1,\n\"b\":1}}]}}}}").into(),
            "line 2: the document is no extended JSON: the name `b` is there twice in one object, at line 3",
        ),
        (
            format!("{line}\n{{\"_id\":2,\"value\":{{\"a\":{{\"$date\":\"today\"}}}}}}").into(),
            "line 2: the document is no extended JSON: `$date` cannot be `today`",
        ),
        (
            format!("{line}\n{{\"_id\":2,\"a\\u0000\":1}}").into(),
            "line 2: the document cannot be stored",
        ),
        (
            format!("{line}\n{{\"a\":{}", "[".repeat(100_000)).into(),
            "line 2: the document is no extended JSON: recursion limit",
        ),
        (
            format!("[{line},\n{line}{line}]").into(),
            "line 2, column 21: `{` is here, and not `,` or `]`",
        ),
        (format!("[{line},{line}").into(), "line 1, column 43: the file ends within a list"),
        (format!("[{line},]").into(), "line 1, column 23: `]` is here, and not a document"),
        (format!("[{line}]\n{line}").into(), "line 2: `{` is here, and not the end of the file"),
        (
            format!("[{line},{{\"_id\":2,\"_id\":2}}]").into(),
            "line 1, column 23: the document is no extended JSON: the name `_id` is there twice in one object, at line 1, column 36",
        ),
        (b"[[]]".to_vec(), "line 1, column 2: `[` is here, and not a document"),
    ] {
        let error = imported(&file).await.unwrap_err();
        let shown = String::from_utf8_lossy(&file);
        assert_eq!(error.kind(), ErrorKind::InvalidImport, "{shown}: {error}");
        assert!(error.to_string().starts_with(says), "{shown}\n{error}\n{says}");
    }
}

#[tokio::test]
async fn documents_of_a_list_are_named_by_line_and_column() {
    let list = r#"[{"_id":1,"value":{}},{"_id":2,"value":5}]"#;
    let error = imported(list.as_bytes()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Decode);
    assert!(error.to_string().starts_with("line 1, column 23: unreadable document"), "{error}");
    assert!(error.to_string().contains("with `_id` = 2"), "{error}");
}

#[tokio::test]
async fn a_document_that_is_too_large_is_refused() {
    let text = "x".repeat(16 << 20);
    let json = format!(r#"{{"_id":1,"value":{{"a":"{text}"}}}}"#);
    let error = imported(json.as_bytes()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    assert!(error.to_string().starts_with("line 1: "), "{error}");
    let dump = doc! { "_id": 1, "value": { "a": text } }.to_vec().unwrap();
    let error = imported(&dump).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidImport, "{error}");
    assert!(
        error.to_string().starts_with("offset 0: the length of the document is 16777"),
        "{error}"
    );
}

/// Values of all types, except values that relaxed extended JSON cannot tell from others.
fn value() -> impl Strategy<Value = Bson> {
    let subtype = prop_oneof![Just(0_u8), Just(1), Just(3), Just(4), Just(5), 0x80..=u8::MAX];
    let binary = (subtype, any::<Vec<u8>>());
    const DECIMALS: &[&str] =
        &["1.10E+30", "-0", "NaN", "-Infinity", "0E-6176", "123456789.5", "9E+6144"];
    let date = prop_oneof![any::<i64>(), 0..=LAST_DATE, any::<i32>().prop_map(i64::from)];
    let scalar = prop_oneof![
        Just(Bson::Null),
        any::<bool>().prop_map(Bson::Boolean),
        any::<String>().prop_map(Bson::String),
        any::<f64>().prop_map(|double| Bson::Double(if double.is_nan() { f64::NAN } else { double })),
        any::<i32>().prop_map(|integer| Bson::Double(integer.into())),
        any::<i32>().prop_map(Bson::Int32),
        any::<i64>().prop_map(|long| Bson::Int64(if i32::try_from(long).is_ok() { long + (1 << 40) } else { long })),
        any::<[u8; 12]>().prop_map(|bytes| Bson::ObjectId(bson::oid::ObjectId::from_bytes(bytes))),
        date.prop_map(|millis| Bson::DateTime(bson::DateTime::from_millis(millis))),
        binary.prop_map(|(subtype, bytes)| Bson::Binary(bson::Binary { subtype: subtype.into(), bytes })),
        prop::sample::select(DECIMALS).prop_map(|text| Bson::Decimal128(text.parse().unwrap())),
        ("[^\0]*", prop::sample::select(&["", "i", "im", "msx"][..])).prop_map(|(pattern, options)| {
            let pattern = pattern.try_into().unwrap();
            Bson::RegularExpression(bson::Regex { pattern, options: options.to_owned().try_into().unwrap() })
        }),
        (any::<u32>(), any::<u32>())
            .prop_map(|(time, increment)| Bson::Timestamp(bson::Timestamp { time, increment })),
        any::<String>().prop_map(Bson::JavaScriptCode),
        any::<String>().prop_map(Bson::Symbol),
        Just(Bson::Undefined),
        Just(Bson::MinKey),
        Just(Bson::MaxKey),
        Just(serde_json::json!({ "$dbPointer": { "$ref": "a.b", "$id": { "$oid": "65a1b2c3d4e5f60718293a4b" } } }))
            .prop_map(|pointer| Bson::try_from(pointer).unwrap()),
    ];
    scalar.prop_recursive(4, 40, 6, |inner| {
        let document = prop::collection::vec(("[a-zé.\"\\\\]{0,3}", inner.clone()), 0..6)
            .prop_map(|fields| fields.into_iter().collect::<Document>());
        prop_oneof![
            document.clone().prop_map(Bson::Document),
            prop::collection::vec(inner, 0..6).prop_map(Bson::Array),
            (any::<String>(), document).prop_map(|(code, scope)| {
                Bson::JavaScriptCodeWithScope(bson::JavaScriptCodeWithScope { code, scope })
            }),
        ]
    })
}

/// The end of the year 9999.
const LAST_DATE: i64 = 253_402_300_799_999;

/// The JSON of a value with all names sorted, as in `serde_json`.
fn json(value: &Bson, form: fn(Bson) -> serde_json::Value) -> String {
    match value {
        Bson::Document(document) => object(document, form),
        Bson::Array(array) => {
            let elements: Vec<String> = array.iter().map(|element| json(element, form)).collect();
            format!("[{}]", elements.join(","))
        }
        Bson::JavaScriptCodeWithScope(code) => {
            let text = serde_json::Value::from(code.code.as_str());
            format!(r#"{{"$code":{text},"$scope":{}}}"#, object(&code.scope, form))
        }
        // `bson` writes all dates after the year 9999 as the last one in it.
        Bson::DateTime(date) if date.timestamp_millis() > LAST_DATE => {
            value.clone().into_canonical_extjson().to_string()
        }
        scalar => form(scalar.clone()).to_string(),
    }
}

fn object(document: &Document, form: fn(Bson) -> serde_json::Value) -> String {
    let fields = document.iter().map(|(name, value)| {
        format!("{}: {}", serde_json::Value::from(name.as_str()), json(value, form))
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

#[test]
fn documents_of_all_types_are_stored_byte_by_byte_from_each_form() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let config = Config { cases: 200, failure_persistence: None, ..Config::default() };
    let documents =
        prop::collection::vec(prop::collection::vec(("[a-z]{1,3}", value()), 0..6), 1..4);
    TestRunner::new(config)
        .run(&documents, |documents| {
            let documents: Vec<Document> = (1..)
                .zip(documents)
                .map(|(id, fields)| doc! { "_id": id, "value": fields.into_iter().collect::<Document>() })
                .collect();
            let in_form = |form: fn(Bson) -> serde_json::Value| {
                documents.iter().map(|document| object(document, form)).collect::<Vec<_>>()
            };
            let canonical = in_form(Bson::into_canonical_extjson);
            let relaxed = in_form(Bson::into_relaxed_extjson);
            let dump: Vec<u8> = documents.iter().flat_map(|document| document.to_vec().unwrap()).collect();
            let files = [
                canonical.join("\n").into_bytes(),
                relaxed.join("\r\n").into_bytes(),
                format!("[{}]", canonical.join(",")).into_bytes(),
                dump.clone(),
            ];
            for file in files {
                let stored = runtime.block_on(imported(&file));
                let stored = stored.map_err(|error| TestCaseError::fail(error.to_string()))?;
                let stored: Vec<u8> = stored.iter().flat_map(|document| document.as_bytes().to_vec()).collect();
                prop_assert_eq!(&stored, &dump, "{}", String::from_utf8_lossy(&file));
            }
            Ok(())
        })
        .unwrap();
}
