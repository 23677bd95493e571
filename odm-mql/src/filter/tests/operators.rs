//! Remainders, bits, and lists of values.

use std::time::{Duration, Instant};

use bson::{Binary, spec::BinarySubtype};

use super::*;
use crate::{order, testing::number};

#[test]
fn a_remainder_is_that_of_whole_parts_and_has_the_sign_of_the_number() {
    let is = |divisor: Bson, remainder: i32, value: Bson| {
        matches(
            doc! { "a": { "$mod": [divisor, remainder] } },
            doc! { "a": value },
        )
    };
    assert!(is(4.into(), 0, 8.into()));
    assert!(is(4.into(), 0, 8.7.into()));
    assert!(is(4.9.into(), 0, 8_i64.into()));
    assert!(is(4.into(), -3, (-7).into()));
    assert!(!is(4.into(), 1, (-7).into()));
    assert!(is(
        3.into(),
        0,
        Bson::Decimal128("9.5".parse().expect("a decimal"))
    ));
    assert!(is((-1).into(), 0, i64::MIN.into()));
    assert!(!is(4.into(), 0, f64::NAN.into()));
    assert!(!is(4.into(), 0, "8".into()));
    assert!(is(4.into(), 0, vec![1, 8].into()));
}

#[test]
fn a_long_list_of_values_is_searched_in_a_long_array_at_once() {
    let numbers: Vec<Bson> = (0..20_000).map(Bson::Int32).collect();
    let has = |from: usize| {
        let filter = doc! { "a": { "$all": numbers[from..].to_vec() } };
        let filter = parse(filter);
        let document = raw(doc! { "a": numbers[1..].to_vec() });
        filter.matches(&document).expect("no test fails")
    };
    let start = Instant::now();
    assert!(has(1));
    assert!(!has(0));
    // The first value is in the list, and the last one is not.
    let mut searched = numbers[1..].to_vec();
    searched.push(Bson::Int32(-1));
    assert!(!matches(
        doc! { "a": { "$all": searched } },
        doc! { "a": numbers[1..].to_vec() }
    ));
    // Single comparisons would take minutes.
    assert!(start.elapsed() < Duration::from_secs(30));
}

#[test]
fn bits_are_those_of_whole_numbers_and_of_binary_data() {
    let is = |operator: &str, mask: Bson, value: Bson| {
        matches(doc! { "a": { operator: mask } }, doc! { "a": value })
    };
    let binary = |bytes: &[u8]| {
        Bson::Binary(Binary {
            subtype: BinarySubtype::Generic,
            bytes: bytes.to_vec(),
        })
    };
    let positions = || Bson::from(vec![1, 5]);
    assert!(is("$bitsAllSet", 34.into(), 54.into()));
    assert!(is("$bitsAllSet", positions(), 54.0.into()));
    assert!(is("$bitsAllSet", positions(), binary(&[0b10_0010])));
    assert!(!is("$bitsAllSet", positions(), 2.into()));
    assert!(is("$bitsAnySet", positions(), 2.into()));
    assert!(is("$bitsAllClear", positions(), 20.into()));
    assert!(!is("$bitsAllClear", positions(), 2.into()));
    assert!(is("$bitsAnyClear", positions(), 2.into()));
    // Beyond its end a number has its sign, and data has zeros.
    assert!(is("$bitsAllSet", vec![200].into(), (-1).into()));
    assert!(is("$bitsAllClear", vec![200].into(), binary(&[0xff])));
    assert!(!is("$bitsAllClear", positions(), 20.5.into()));
    assert!(!is("$bitsAllClear", positions(), "20".into()));
    assert!(is("$bitsAllSet", binary(&[0, 1]), 256.into()));
}

#[test]
fn a_comment_has_no_meaning() {
    assert!(matches(doc! { "$comment": "why", "a": 1 }, doc! { "a": 1 }));
    assert_eq!(parse(doc! { "$comment": "why" }), Filter::default());
}

#[test]
fn the_codes_of_errors_are_those_of_mongodb() {
    for (filter, code, name) in [
        (doc! { "a": { "$type": null } }, 14, "TypeMismatch"),
        (doc! { "a": { "$type": [] } }, 9, "FailedToParse"),
        (doc! { "a": { "$bitsAllSet": -1 } }, 9, "FailedToParse"),
        (doc! { "a": { "$in": 1 } }, 2, "BadValue"),
        (doc! { "a": { "$regex": "(" } }, 51_091, "Location51091"),
        (
            doc! { "a": { "$regex": "a", "$options": "q" } },
            51_108,
            "Location51108",
        ),
    ] {
        let error = refused(filter.clone());
        assert_eq!(
            (error.code(), error.code_name().as_ref()),
            (code, name),
            "{filter}"
        );
    }
}

proptest! {
    #[test]
    fn a_long_list_has_what_one_of_its_values_equals(
        values in prop::collection::vec(prop_oneof![small_nested(), number()], 0..20),
        value in prop_oneof![small_nested(), number()],
    ) {
        let value = raw_value(value);
        let value = value.as_raw_bson_ref();
        let values: Vec<RawBson> = values.into_iter().map(raw_value).collect();
        let equal = values.iter().any(|one| order::equal(one.as_raw_bson_ref(), value));
        prop_assert_eq!(Values::from(values).has(value), equal);
    }
}
