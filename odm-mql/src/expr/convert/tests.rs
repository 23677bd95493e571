mod binary;
mod texts;

use bson::{Binary, Bson, Document, Regex, Timestamp, doc, raw::CString, spec::BinarySubtype};
use proptest::prelude::*;

use super::*;
use crate::{
    Expr,
    testing::{raw, raw_value, value},
    types::from_raw,
};

/// The value of an expression, or the code of its error. Its form parses to the same expression.
fn result(expression: Document, document: Document) -> Result<Option<Bson>, i32> {
    let expression = Expr::parse(&expression.into()).expect("an expression");
    assert_eq!(Expr::parse(&expression.to_bson()), Ok(expression.clone()));
    let value = expression.evaluate(&raw(document));
    let value = value.map_err(|error| error.code())?;
    Ok(value.map(|value| from_raw(&value)))
}

/// Converts a value by `$convert`, and by the operator of the type if it has one.
fn convert(input: impl Into<Bson>, to: &str) -> Result<Bson, i32> {
    let input: Bson = input.into();
    let document = doc! { "input": input, "to": to };
    let mut arguments = doc! { "input": "$input", "to": "$to" };
    if to == "string" {
        // The format of the operator.
        arguments.insert("format", "auto");
    }
    let converted = result(doc! { "$convert": arguments }, document.clone());
    let short = match to {
        "double" | "string" | "bool" | "date" | "int" | "long" | "decimal" => {
            format!("$to{}{}", to[..1].to_ascii_uppercase(), &to[1..])
        }
        "objectId" => "$toObjectId".to_owned(),
        _ => return converted.map(|value| value.expect("a value")),
    };
    let short = result(doc! { short: "$input" }, document);
    assert_eq!(format!("{short:?}"), format!("{converted:?}"), "{to}");
    converted.map(|value| value.expect("a value"))
}

fn decimal(text: &str) -> Bson {
    Bson::Decimal128(text.parse().expect("a decimal"))
}

fn date(text: &str) -> Bson {
    Bson::DateTime(DateTime::parse_rfc3339_str(text).expect("a date"))
}

fn id(text: &str) -> Bson {
    Bson::ObjectId(ObjectId::parse_str(text).expect("an id"))
}

fn binary(subtype: BinarySubtype, bytes: &[u8]) -> Bson {
    Bson::Binary(Binary {
        subtype,
        bytes: bytes.to_vec(),
    })
}

fn regex() -> Bson {
    let cstring = |text: &str| CString::try_from(text).expect("without NUL");
    Bson::RegularExpression(Regex {
        pattern: cstring("B*"),
        options: cstring(""),
    })
}

/// Of `jstests/aggregation/expressions/convert.js`.
#[test]
fn every_conversion_that_mongodb_has_is_here() {
    let oid = "0123456789abcdef01234567";
    let time = || date("1970-01-01T00:00:00.123Z");
    for (input, to, expected) in [
        (1.9.into(), "double", 1.9.into()),
        (1.9.into(), "string", "1.9".into()),
        (1.9.into(), "bool", true.into()),
        (1.9.into(), "date", date("1970-01-01T00:00:00.001Z")),
        (1.9.into(), "int", Bson::Int32(1)),
        (1.9.into(), "long", Bson::Int64(1)),
        (1.9.into(), "decimal", decimal("1.90000000000000")),
        ("1.9".into(), "double", 1.9.into()),
        ("str".into(), "string", "str".into()),
        (oid.into(), "objectId", id(oid)),
        ("".into(), "bool", true.into()),
        (
            "1970-01-01T00:00:00.001Z".into(),
            "date",
            date("1970-01-01T00:00:00.001Z"),
        ),
        ("1".into(), "int", Bson::Int32(1)),
        ("1".into(), "long", Bson::Int64(1)),
        ("1.9".into(), "decimal", decimal("1.9")),
        (id(oid), "string", oid.into()),
        (id(oid), "bool", true.into()),
        (id(oid), "objectId", id(oid)),
        (id(oid), "date", date("1970-08-09T22:25:43Z")),
        (false.into(), "double", 0.0.into()),
        (false.into(), "string", "false".into()),
        (false.into(), "bool", false.into()),
        (false.into(), "int", Bson::Int32(0)),
        (true.into(), "long", Bson::Int64(1)),
        (false.into(), "decimal", decimal("0")),
        (time(), "double", 123.0.into()),
        (time(), "string", "1970-01-01T00:00:00.123Z".into()),
        (time(), "bool", true.into()),
        (time(), "date", time()),
        (time(), "long", Bson::Int64(123)),
        (time(), "decimal", decimal("123")),
        (Bson::Int32(1), "double", 1.0.into()),
        (Bson::Int32(1), "string", "1".into()),
        (Bson::Int32(1), "bool", true.into()),
        (Bson::Int32(1), "int", Bson::Int32(1)),
        (Bson::Int32(1), "long", Bson::Int64(1)),
        (Bson::Int32(1), "decimal", decimal("1")),
        (Bson::Int64(1), "double", 1.0.into()),
        (Bson::Int64(1), "string", "1".into()),
        (Bson::Int64(0), "bool", false.into()),
        (Bson::Int64(1), "date", date("1970-01-01T00:00:00.001Z")),
        (Bson::Int64(1), "int", Bson::Int32(1)),
        (Bson::Int64(1), "long", Bson::Int64(1)),
        (Bson::Int64(1), "decimal", decimal("1")),
        (decimal("1.9"), "double", 1.9.into()),
        (decimal("1.9"), "string", "1.9".into()),
        (decimal("1.9"), "bool", true.into()),
        (decimal("1.9"), "date", date("1970-01-01T00:00:00.001Z")),
        (decimal("1.9"), "int", Bson::Int32(1)),
        (decimal("1.9"), "long", Bson::Int64(1)),
        (decimal("1.9"), "decimal", decimal("1.9")),
        (Bson::MinKey, "bool", true.into()),
        (doc! { "foo": 1 }.into(), "bool", true.into()),
        (vec![1, 2].into(), "bool", true.into()),
        (binary(BinarySubtype::Generic, &[4]), "bool", true.into()),
        (regex(), "bool", true.into()),
        (Bson::JavaScriptCode("f".to_owned()), "bool", true.into()),
        (
            Bson::Timestamp(Timestamp {
                time: 0,
                increment: 1,
            }),
            "bool",
            true.into(),
        ),
        (Bson::MaxKey, "bool", true.into()),
    ] {
        assert_eq!(convert(input.clone(), to), Ok(expected), "{input} to {to}");
    }
}

/// Of `convert.js` and of `evaluate_convert_test.cpp`.
#[test]
fn values_without_a_counterpart_in_a_type_are_failed_conversions() {
    let oid = || id("0123456789abcdef01234567");
    let targets = [
        "minKey",
        "missing",
        "object",
        "array",
        "undefined",
        "null",
        "regex",
        "dbPointer",
        "javascript",
        "symbol",
        "javascriptWithScope",
        "timestamp",
        "maxKey",
        "objectId",
    ];
    let unsupported = targets
        .into_iter()
        .map(|to| (Bson::Double(1.9), to))
        .chain([
            (oid(), "double"),
            (oid(), "int"),
            (oid(), "long"),
            (oid(), "decimal"),
            (false.into(), "objectId"),
            (false.into(), "date"),
            (date("1970-01-01T00:00:00.123Z"), "objectId"),
            (date("1970-01-01T00:00:00.123Z"), "int"),
            (Bson::Int32(1), "objectId"),
            (Bson::Int32(1), "date"),
            (Bson::Int64(1), "objectId"),
            (decimal("1.9"), "objectId"),
            (true.into(), "binData"),
            (vec![1].into(), "string"),
            (doc! {}.into(), "string"),
            (regex(), "string"),
            (Bson::MinKey, "string"),
            (
                Bson::Timestamp(Timestamp {
                    time: 1,
                    increment: 2,
                }),
                "string",
            ),
            (Bson::JavaScriptCode("f".to_owned()), "string"),
            ("[1]".into(), "array"),
            ("{}".into(), "object"),
            (binary(BinarySubtype::Generic, &[1]), "date"),
        ]);
    let values = [
        (Bson::Double(2_147_483_648.0), "int"),
        (Bson::Double(2_147_483_647.5), "int"),
        (Bson::Double(-2_147_483_649.0), "int"),
        (Bson::Double(f64::NAN), "int"),
        (Bson::Double(f64::INFINITY), "int"),
        (Bson::Double(9_223_372_036_854_775_808.0), "long"),
        (Bson::Double(-9_223_372_036_854_777_856.0), "long"),
        (Bson::Double(f64::NAN), "long"),
        (Bson::Double(1e100), "date"),
        (Bson::Double(f64::NEG_INFINITY), "date"),
        (Bson::Int64(2_147_483_648), "int"),
        (decimal("2147483648"), "int"),
        (decimal("-2147483649"), "int"),
        (decimal("NaN"), "int"),
        (decimal("9223372036854775808"), "long"),
        (decimal("-9223372036854775809"), "long"),
        (decimal("-Infinity"), "long"),
        (decimal("1.0E+100"), "date"),
        (decimal("1E+309"), "double"),
        (decimal("-1E+309"), "double"),
        (decimal("1E-1000"), "double"),
        ("2147483648".into(), "int"),
        ("-2147483649".into(), "int"),
        ("9223372036854775808".into(), "long"),
        ("5.5".into(), "long"),
        ("5.0".into(), "long"),
        ("1e3".into(), "int"),
        (" 5".into(), "int"),
        ("5 ".into(), "int"),
        ("".into(), "int"),
        ("-".into(), "long"),
        (".5.".into(), "double"),
        ("5.5f".into(), "double"),
        (" 5.5".into(), "double"),
        ("5.5 ".into(), "double"),
        ("".into(), "double"),
        ("FF".into(), "double"),
        ("1E+309".into(), "double"),
        ("-1E+309".into(), "double"),
        ("1E-1000".into(), "double"),
        ("-1E-1000".into(), "double"),
        ("1E6145".into(), "decimal"),
        ("-1E6145".into(), "decimal"),
        ("1E-6178".into(), "decimal"),
        ("-1E-6177".into(), "decimal"),
        ("FF".into(), "decimal"),
        (" 1".into(), "decimal"),
        ("".into(), "decimal"),
        ("0xFF".into(), "int"),
        ("0x00".into(), "long"),
        ("0xFF".into(), "double"),
        ("0x00".into(), "decimal"),
        ("InvalidHexButSizeCorrect".into(), "objectId"),
        ("InvalidSize".into(), "objectId"),
        ("0x123456789abcdef123456789".into(), "objectId"),
        ("60.Monday1770/06:59".into(), "date"),
        ("Definitely not a date".into(), "date"),
        ("2017-07-13T10:02:57 Europe/London".into(), "date"),
    ];
    for (input, to) in unsupported.chain(values) {
        assert_eq!(convert(input.clone(), to), Err(241), "{input} to {to}");
        let with_error = doc! { "$convert": { "input": "$input", "to": to, "onError": "$x" } };
        let document = doc! { "input": input.clone(), "x": "X" };
        let message = format!("{input} to {to}");
        assert_eq!(
            result(with_error, document),
            Ok(Some("X".into())),
            "{message}"
        );
    }
}

/// Of `evaluate_convert_test.cpp`; the time of an id has a sign in `oid.h`.
#[test]
fn dates_are_made_of_ids_and_timestamps() {
    let expected = || Ok(date("2017-10-19T13:30:00Z"));
    assert_eq!(convert(id("59E8A8D8FEDCBA9876543210"), "date"), expected());
    let timestamp = Bson::Timestamp(Timestamp {
        time: 1_508_419_800,
        increment: 1,
    });
    assert_eq!(convert(timestamp, "date"), expected());
    let timestamp = Bson::Timestamp(Timestamp {
        time: u32::MAX,
        increment: 0,
    });
    assert_eq!(convert(timestamp, "date"), Ok(date("2106-02-07T06:28:15Z")));
    let negative = id("ffffffff0000000000000000");
    assert_eq!(convert(negative, "date"), Ok(date("1969-12-31T23:59:59Z")));
}

/// Of `evaluate_convert_test.cpp`.
#[test]
fn null_has_no_conversion_and_may_have_another_value() {
    for document in [doc! {}, doc! { "a": null }, doc! { "a": Bson::Undefined }] {
        let to = |to: Bson, more: Document| {
            let mut convert = doc! { "input": "$a", "to": to };
            convert.extend(more);
            result(doc! { "$convert": convert }, document.clone())
        };
        let on_null = || doc! { "onNull": "B", "onError": "E" };
        assert_eq!(to("int".into(), doc! {}), Ok(Some(Bson::Null)));
        assert_eq!(to("int".into(), on_null()), Ok(Some("B".into())));
        assert_eq!(to(Bson::Null, on_null()), Ok(Some("B".into())));
        assert_eq!(to("int".into(), doc! { "onNull": "$$REMOVE" }), Ok(None));
        assert_eq!(
            result(doc! { "$toInt": "$a" }, document.clone()),
            Ok(Some(Bson::Null))
        );
        // A `to` that is no type is an error even so.
        assert_eq!(to("dinosaur".into(), on_null()), Err(2));
    }
    let null_type = doc! { "$convert": { "input": 1, "to": "$a", "onNull": "B", "onError": "E" } };
    assert_eq!(result(null_type, doc! {}), Ok(Some(Bson::Null)));
    // Only the conversion has another value.
    let failing = doc! { "$divide": [1, 0] };
    let failing = doc! { "$convert": { "input": failing, "to": "string", "onError": 1 } };
    assert_eq!(result(failing, doc! {}), Err(2));
    let removed = doc! { "$convert": { "input": "x", "to": "int", "onError": "$$REMOVE" } };
    assert_eq!(result(removed, doc! {}), Ok(None));
}

/// Of `evaluate_convert_test.cpp` and of `ExpressionConvert::parse`.
#[test]
fn a_type_has_a_name_a_code_or_a_document() {
    let to = |to: Bson| {
        result(
            doc! { "$convert": { "input": "1", "to": to, "onError": 0 } },
            doc! {},
        )
    };
    for target in [
        16.into(),
        16.0.into(),
        decimal("16"),
        doc! { "type": "int" }.into(),
    ] {
        assert_eq!(to(target), Ok(Some(Bson::Int32(1))));
    }
    assert_eq!(
        to(doc! { "type": "long", "subtype": 4 }.into()),
        Ok(Some(Bson::Int64(1)))
    );
    // As in MongoDB, other fields have no meaning.
    let more = doc! { "type": "int", "dinosaur": "Tyrannosaurus rex" };
    assert_eq!(to(more.into()), Ok(Some(Bson::Int32(1))));
    // The type of a missing value.
    assert_eq!(to(0.into()), Ok(Some(Bson::Int32(0))));
    for (target, code) in [
        ("dinosaur".into(), 2),
        ("number".into(), 2),
        (3.6.into(), 9),
        (100.into(), 9),
        ((-2).into(), 9),
        (true.into(), 9),
        (doc! { "dinosaur": "Tyrannosaurus rex" }.into(), 9),
        (doc! { "subtype": 4 }.into(), 9),
        (doc! { "type": null }.into(), 9),
    ] {
        assert_eq!(to(target), Err(code));
    }
    let parse = |operand: Bson| {
        let parsed = Expr::parse(&doc! { "$convert": operand }.into());
        parsed.expect_err("no conversion").code()
    };
    assert_eq!(parse(1.into()), 9);
    assert_eq!(parse(doc! { "to": "int" }.into()), 9);
    assert_eq!(parse(doc! { "input": 1 }.into()), 9);
    assert_eq!(
        parse(doc! { "input": 1, "to": "int", "targetType": 1 }.into()),
        9
    );
    assert_eq!(
        parse(doc! { "input": 1, "to": "int", "base": 2 }.into()),
        238
    );
    let arity = Expr::parse(&doc! { "$toInt": [1, 2] }.into());
    assert_eq!(arity.expect_err("two operands").code(), 50_723);
}

#[test]
fn numbers_are_told_from_other_values() {
    let is_number = |value: Bson| result(doc! { "$isNumber": "$a" }, doc! { "a": value });
    for number in [1.into(), 1_i64.into(), f64::NAN.into(), decimal("1")] {
        assert_eq!(is_number(number), Ok(Some(true.into())));
    }
    for other in ["1".into(), true.into(), Bson::Null, vec![1].into()] {
        assert_eq!(is_number(other), Ok(Some(false.into())));
    }
    assert_eq!(
        result(doc! { "$isNumber": "$a" }, doc! {}),
        Ok(Some(false.into()))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_conversion_of_any_value_has_a_result_of_the_type_or_a_code(
        value in value(),
        text in "[-+0-9eTZ:. ]{0,30}",
        to in prop::sample::select(&[
            "double", "string", "bool", "date", "int", "long", "decimal", "objectId", "binData", "array",
        ]),
    ) {
        for input in [value, text.into()] {
            match convert(input.clone(), to) {
                Ok(Bson::Null) => prop_assert!(matches!(input, Bson::Null | Bson::Undefined)),
                Ok(converted) => {
                    prop_assert_eq!(types::name(raw_value(converted).element_type()), to);
                }
                Err(code) => prop_assert!([241, 18_537, 4_341_115].contains(&code)),
            }
        }
    }
}
