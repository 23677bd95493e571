//! Numbers and dates as texts.

use super::*;
use crate::{order, testing::number};

/// Of `evaluate_convert_test.cpp`.
#[test]
fn numbers_are_read_from_texts() {
    for (text, expected) in [
        ("5", 5.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("+5", 5.0),
        ("+5.0e42", 5.0e42),
        ("10000000000000000001", 1e19),
        ("1.125000000000000000005", 1.125),
        ("INF", f64::INFINITY),
        ("+InFiNiTy", f64::INFINITY),
        ("-infinity", f64::NEG_INFINITY),
        ("-0.0", -0.0),
        ("+0", 0.0),
        ("0e-1000", 0.0),
    ] {
        let converted = convert(text, "double").map(|value| value.as_f64().map(f64::to_bits));
        assert_eq!(converted, Ok(Some(expected.to_bits())), "{text}");
    }
    for text in ["nan", "Nan", "-NAN", "+NaN"] {
        let is_nan = |value: Bson| value.as_f64().is_some_and(f64::is_nan);
        assert!(convert(text, "double").is_ok_and(is_nan), "{text}");
        assert_eq!(convert(text, "decimal"), Ok(decimal("NaN")), "{text}");
    }
    for (text, expected) in [
        ("5", "5"),
        ("2.02", "2.02"),
        ("2.02E200", "2.02E+200"),
        ("-5.e1", "-5E+1"),
        (
            "9.999999999999999999999999999999999E+6144",
            "9.999999999999999999999999999999999E+6144",
        ),
        ("+InFiNiTy", "Infinity"),
        ("-inf", "-Infinity"),
        ("-0.0", "-0.0"),
        ("0E-99999", "0E-6176"),
        ("1E-6176", "1E-6176"),
        ("100E-6178", "1E-6176"),
        (
            "10000000000000000000000000000000001",
            "1.000000000000000000000000000000000E+34",
        ),
        (
            "1.1250000000000000000000000000000001",
            "1.125000000000000000000000000000000",
        ),
    ] {
        let converted = convert(text, "decimal").map(|value| value.to_string());
        assert_eq!(converted, Ok(decimal(expected).to_string()), "{text}");
    }
    assert_eq!(convert("2147483647", "int"), Ok(Bson::Int32(i32::MAX)));
    assert_eq!(
        convert("-9223372036854775808", "long"),
        Ok(Bson::Int64(i64::MIN))
    );
    assert_eq!(convert("+07", "int"), Ok(Bson::Int32(7)));
}

/// Of `evaluate_convert_test.cpp`, and the bounds of the forms of doubles of the library `fmt`, which MongoDB writes them with.
#[test]
fn numbers_and_dates_are_written_as_mongodb_writes_them() {
    for (value, expected) in [
        (0.0, "0"),
        (-0.0, "-0"),
        (1337.0, "1337"),
        (-0.1337, "-0.1337"),
        (1.3e37, "1.3e+37"),
        (-1.3e-37, "-1.3e-37"),
        (1e15, "1000000000000000"),
        (9_007_199_254_740_993.0, "9007199254740992"),
        (1e16, "1e+16"),
        (1.2345678901234568e17, "1.2345678901234568e+17"),
        (0.0001, "0.0001"),
        (-0.00001, "-1e-05"),
        (0.1 + 0.2, "0.30000000000000004"),
        (f64::INFINITY, "Infinity"),
        (f64::NEG_INFINITY, "-Infinity"),
        (f64::NAN, "NaN"),
        (-f64::NAN, "NaN"),
    ] {
        assert_eq!(convert(value, "string"), Ok(expected.into()), "{value}");
    }
    for (value, expected) in [
        ("-0", "-0"),
        ("0.0000", "0.0000"),
        (
            "13370000000000000000000000000000000",
            "1.337000000000000000000000000000000E+34",
        ),
        ("0.133700", "0.133700"),
        ("-1.3E-37", "-1.3E-37"),
        ("-NaN", "NaN"),
    ] {
        assert_eq!(
            convert(decimal(value), "string"),
            Ok(expected.into()),
            "{value}"
        );
    }
    assert_eq!(
        convert(-1_337_133_713_371_337_i64, "string"),
        Ok("-1337133713371337".into())
    );
    for (millis, expected) in [
        (0, "1970-01-01T00:00:00.000Z"),
        (872_835_240_000, "1997-08-29T06:14:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
    ] {
        let date = Bson::DateTime(DateTime::from_millis(millis));
        assert_eq!(convert(date, "string"), Ok(expected.into()), "{millis}");
    }
    // It is no failure of a conversion: see `date_time_support.h`.
    for millis in [253_402_300_800_000, -62_167_219_200_001, i64::MAX, i64::MIN] {
        let far = Bson::DateTime(DateTime::from_millis(millis));
        let with_error = doc! { "$convert": { "input": "$input", "to": "string", "onError": 1 } };
        assert_eq!(convert(far.clone(), "string"), Err(18_537), "{millis}");
        assert_eq!(
            result(with_error, doc! { "input": far }),
            Err(18_537),
            "{millis}"
        );
    }
}

/// Of `evaluate_convert_test.cpp`, of `date_from_string.js` and of the page of `$toDate`.
#[test]
fn dates_are_read_from_texts_of_iso_8601() {
    for (text, expected) in [
        ("2017-07-06T12:35:37Z", "2017-07-06T12:35:37Z"),
        ("2017-07-06T12:35:37.513Z", "2017-07-06T12:35:37.513Z"),
        ("2017-07-06", "2017-07-06T00:00:00Z"),
        ("2017-07-06T12:35", "2017-07-06T12:35:00Z"),
        ("2017-07-04T11:56:02.8Z", "2017-07-04T11:56:02.800Z"),
        ("1960-07-10T12:10:37.448", "1960-07-10T12:10:37.448Z"),
        ("2017-07-06 11:36:54", "2017-07-06T11:36:54Z"),
        ("2018-03-20 11:00:06 +0500", "2018-03-20T06:00:06Z"),
        ("2018-03-20T12:00:00+0500", "2018-03-20T07:00:00Z"),
        (
            "2017-07-14T12:02:44.771 GMT+02:00",
            "2017-07-14T10:02:44.771Z",
        ),
        ("2017-07-14T12:02:44.771 UTC", "2017-07-14T12:02:44.771Z"),
        ("2017-07-14T12:02:44.771+03", "2017-07-14T09:02:44.771Z"),
        ("2017-07-14T12:02:44.771-0330", "2017-07-14T15:32:44.771Z"),
        (" 2017-07-14t12:02:44z ", "2017-07-14T12:02:44Z"),
        ("2000-02-29T23:59:59.999999999Z", "2000-02-29T23:59:59.999Z"),
        ("1969-12-31T23:59:58.9985Z", "1969-12-31T23:59:58.999Z"),
        ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
    ] {
        assert_eq!(convert(text, "date"), Ok(date(expected)), "{text}");
    }
    for text in [
        "",
        "2017",
        "2017-07",
        "2017-7-6",
        "2017-02-29",
        "2017-13-01",
        "2017-00-01",
        "2017-07-06T",
        "2017-07-06T12",
        "2017-07-06T24:00",
        "2017-07-06T12:60",
        "2017-07-06T12:00:60",
        "2017-07-06T12:00.5",
        "2017-07-06T12:00:00.",
        "2017-07-06T12:00:00.5.5",
        "2017-07-06T12:00:00+",
        "2017-07-06T12:00:00+2",
        "2017-07-06T12:00:00+25:00",
        "2017-07-06T12:00:00+02:",
        "2017-07-06T12:00:00+02:00Z",
        "2017-07-06X12:00",
        "2017-07-0é",
        "20170706",
        "July 4th, 2017",
        "2017-07-14T12:02:44.771 A",
    ] {
        assert_eq!(convert(text, "date"), Err(241), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_number_is_that_of_its_text(number in number()) {
        let name = types::name(raw_value(number.clone()).element_type());
        let text = convert(number.clone(), "string").expect("a text");
        match convert(text, name) {
            Ok(again) => {
                let (again, number) = (raw_value(again), raw_value(number));
                prop_assert!(order::equal(again.as_raw_bson_ref(), number.as_raw_bson_ref()));
            }
            // As in MongoDB, the smallest numbers have texts that are out of range.
            Err(241) => prop_assert!(number.as_f64().is_some_and(f64::is_subnormal)),
            Err(code) => prop_assert!(false, "{code}"),
        }
    }

    #[test]
    fn a_date_is_that_of_its_text(millis in -62_167_219_200_000..253_402_300_800_000_i64) {
        let date = Bson::DateTime(DateTime::from_millis(millis));
        let text = convert(date.clone(), "string").expect("a text");
        prop_assert_eq!(convert(text, "date"), Ok(date));
    }
}
