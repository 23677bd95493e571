mod operators;
mod patterns;
mod positions;
mod properties;
mod schemas;

use bson::{Bson, Regex, doc};
use proptest::prelude::*;

use super::*;
use crate::{
    order::equal,
    testing::{raw, raw_value, small_nested},
};

fn parse(document: Document) -> Filter {
    Filter::parse(&document).expect("a filter")
}

fn matches(filter: Document, document: Document) -> bool {
    let filter = parse(filter);
    let again = parse(filter.to_document());
    assert_eq!(format!("{again:?}"), format!("{filter:?}"));
    filter.matches(&raw(document)).expect("no test fails")
}

fn refused(filter: Document) -> Error {
    Filter::parse(&filter).expect_err("no filter")
}

fn regex(pattern: &str, options: &str) -> Bson {
    let [pattern, options] = [pattern, options].map(|text| text.try_into().expect("no NUL"));
    Bson::RegularExpression(Regex { pattern, options })
}

#[test]
fn an_empty_filter_matches_everything() {
    assert!(matches(doc! {}, doc! {}));
    assert_eq!(Filter::default().matches(&raw(doc! { "a": 1 })), Ok(true));
}

#[test]
fn null_equals_missing() {
    for filter in [
        doc! { "a": null },
        doc! { "a": { "$gte": null } },
        doc! { "a": { "$lte": null } },
        doc! { "a": { "$in": [null, 1] } },
    ] {
        assert!(matches(filter.clone(), doc! {}), "{filter}");
        assert!(matches(filter.clone(), doc! { "a": null }), "{filter}");
        assert!(!matches(filter, doc! { "a": 2 }));
    }
    assert!(!matches(doc! { "a": { "$gt": null } }, doc! { "a": null }));
    assert!(matches(doc! { "a.b": null }, doc! { "a": 1 }));
    assert!(matches(
        doc! { "a.b": null },
        doc! { "a": [{ "b": 1 }, {}] }
    ));
    assert!(!matches(doc! { "a.b": null }, doc! { "a": [1, 2] }));
    assert!(!matches(doc! { "a.b": null }, doc! { "a": [] }));
}

#[test]
fn numbers_of_all_types_are_equal_by_value() {
    for value in [Bson::Int32(1), Bson::Int64(1), Bson::Double(1.0)] {
        assert!(matches(doc! { "a": value }, doc! { "a": 1.0 }));
    }
    let decimal: bson::Decimal128 = "1.00".parse().expect("a decimal");
    assert!(matches(doc! { "a": decimal }, doc! { "a": 1 }));
}

#[test]
fn an_array_matches_by_an_element_or_as_a_whole() {
    assert!(matches(doc! { "a": 1 }, doc! { "a": [3, 1] }));
    assert!(matches(doc! { "a": [3, 1] }, doc! { "a": [3, 1] }));
    assert!(matches(doc! { "a": [3, 1] }, doc! { "a": [[3, 1], 5] }));
    assert!(!matches(doc! { "a": 1 }, doc! { "a": [[1]] }));
    assert!(matches(doc! { "a": [] }, doc! { "a": [] }));
    assert!(matches(
        doc! { "a": { "$gt": 1, "$lt": 3 } },
        doc! { "a": [0, 5] }
    ));
    assert!(matches(
        doc! { "a": { "$gt": [1, 2] } },
        doc! { "a": [1, 3] }
    ));
}

#[test]
fn what_denies_is_about_the_whole() {
    assert!(!matches(doc! { "a": { "$ne": 1 } }, doc! { "a": [1, 2] }));
    assert!(matches(doc! { "a": { "$ne": 1 } }, doc! {}));
    assert!(!matches(
        doc! { "a": { "$nin": [1, 3] } },
        doc! { "a": [1, 2] }
    ));
    assert!(!matches(
        doc! { "a": { "$not": { "$gt": 1 } } },
        doc! { "a": [0, 2] }
    ));
    assert!(matches(
        doc! { "a": { "$not": { "$gt": 1 } } },
        doc! { "a": "text" }
    ));
    assert!(matches(
        doc! { "$nor": [{ "a": 1 }, { "b": 1 }] },
        doc! { "a": 2 }
    ));
}

#[test]
fn comparisons_stay_within_a_type() {
    assert!(!matches(doc! { "a": { "$gt": 5 } }, doc! { "a": "text" }));
    assert!(!matches(doc! { "a": { "$lt": "x" } }, doc! { "a": 5 }));
    assert!(!matches(doc! { "a": { "$gte": 5 } }, doc! {}));
    assert!(matches(
        doc! { "a": { "$gt": Bson::MinKey } },
        doc! { "a": 5 }
    ));
    assert!(matches(doc! { "a": { "$lte": Bson::MaxKey } }, doc! {}));
    assert!(!matches(
        doc! { "a": { "$lt": Bson::MinKey } },
        doc! { "a": 5 }
    ));
}

#[test]
fn nan_is_equal_to_nan_and_no_less_than_anything() {
    let nan = f64::NAN;
    assert!(matches(doc! { "a": nan }, doc! { "a": nan }));
    assert!(matches(doc! { "a": { "$lte": nan } }, doc! { "a": nan }));
    assert!(!matches(doc! { "a": { "$lt": 5 } }, doc! { "a": nan }));
    assert!(!matches(doc! { "a": { "$gt": nan } }, doc! { "a": 5 }));
}

#[test]
fn exists_and_type_and_size_ask_for_the_form() {
    assert!(matches(
        doc! { "a": { "$exists": true } },
        doc! { "a": null }
    ));
    assert!(matches(doc! { "a": { "$exists": 1 } }, doc! { "a": [] }));
    assert!(matches(doc! { "a": { "$exists": false } }, doc! { "b": 1 }));
    assert!(matches(
        doc! { "a.b": { "$exists": false } },
        doc! { "a": [1] }
    ));
    assert!(matches(
        doc! { "a": { "$type": "number" } },
        doc! { "a": 1.5 }
    ));
    assert!(matches(
        doc! { "a": { "$type": ["string", 10] } },
        doc! { "a": null }
    ));
    assert!(matches(
        doc! { "a": { "$type": "array" } },
        doc! { "a": [] }
    ));
    assert!(matches(
        doc! { "a": { "$type": "int" } },
        doc! { "a": ["x", 1] }
    ));
    assert!(!matches(doc! { "a": { "$type": "null" } }, doc! {}));
    assert!(matches(
        doc! { "a": { "$size": 2.0 } },
        doc! { "a": [[], 1] }
    ));
    assert!(!matches(
        doc! { "a": { "$size": 1 } },
        doc! { "a": [[1], [1]] }
    ));
}

#[test]
fn all_needs_each_of_its_values_in_any_place() {
    assert!(matches(
        doc! { "a": { "$all": [1, 2] } },
        doc! { "a": [2, 1, 3] }
    ));
    assert!(matches(doc! { "a": { "$all": [1] } }, doc! { "a": 1 }));
    assert!(!matches(
        doc! { "a": { "$all": [1, 4] } },
        doc! { "a": [1, 2] }
    ));
    assert!(!matches(doc! { "a": { "$all": [] } }, doc! { "a": [] }));
    assert!(matches(
        doc! { "a": { "$all": [[1, 2]] } },
        doc! { "a": [1, 2] }
    ));
    assert!(matches(
        doc! { "a": { "$all": [regex("^x", "i")] } },
        doc! { "a": ["Xy"] }
    ));
    assert!(matches(
        doc! { "a": { "$all": [{ "$elemMatch": { "b": 1 } }, { "$elemMatch": { "$gt": 5 } }] } },
        doc! { "a": [{ "b": 1 }, 6] }
    ));
}

#[test]
fn elem_match_needs_one_element_that_passes_it_all() {
    assert!(!matches(
        doc! { "a": { "$elemMatch": { "$gt": 1, "$lt": 3 } } },
        doc! { "a": [0, 5] }
    ));
    assert!(matches(
        doc! { "a": { "$elemMatch": { "$gt": 1, "$lt": 3 } } },
        doc! { "a": [0, 2] }
    ));
    let filter = doc! { "a": { "$elemMatch": { "b": 1, "c": 2 } } };
    assert!(!matches(
        filter.clone(),
        doc! { "a": [{ "b": 1 }, { "c": 2 }] }
    ));
    assert!(matches(filter.clone(), doc! { "a": [{ "b": 1, "c": 2 }] }));
    assert!(!matches(filter, doc! { "a": { "b": 1, "c": 2 } }));
    assert!(matches(
        doc! { "a": { "$elemMatch": { "0": 7 } } },
        doc! { "a": [[7]] }
    ));
    assert!(matches(
        doc! { "a": { "$elemMatch": { "$or": [{ "b": 1 }, { "b": 2 }] } } },
        doc! { "a": [{ "b": 2 }] }
    ));
    assert!(!matches(
        doc! { "a": { "$elemMatch": { "$not": { "$gt": 1 } } } },
        doc! { "a": [2, 3] }
    ));
    assert!(matches(
        doc! { "a": { "$elemMatch": { "$elemMatch": { "$eq": 1 } } } },
        doc! { "a": [[0, 1]] }
    ));
    assert!(!matches(
        doc! { "a": { "$elemMatch": { "$eq": 1 } } },
        doc! { "a": [[1]] }
    ));
    assert!(matches(
        doc! { "a": { "$elemMatch": {} } },
        doc! { "a": [{}] }
    ));
}

#[test]
fn a_regular_expression_finds_a_part_of_a_string() {
    assert!(matches(
        doc! { "a": { "$regex": "b+" } },
        doc! { "a": "abb" }
    ));
    assert!(matches(
        doc! { "a": regex("^AB", "i") },
        doc! { "a": ["x", "abb"] }
    ));
    assert!(matches(
        doc! { "a": { "$regex": "^b$", "$options": "m" } },
        doc! { "a": "a\nb" }
    ));
    assert!(matches(
        doc! { "a": { "$options": "s", "$regex": "a.b" } },
        doc! { "a": "a\nb" }
    ));
    assert!(matches(
        doc! { "a": { "$in": [1, regex("x", "")] } },
        doc! { "a": "yx" }
    ));
    assert!(matches(
        doc! { "a": { "$nin": [1, regex("x", "")] } },
        doc! { "a": "yz" }
    ));
    assert!(matches(
        doc! { "a": { "$not": regex("x", "") } },
        doc! { "a": 1 }
    ));
    assert!(matches(
        doc! { "a": regex("x", "") },
        doc! { "a": regex("x", "") }
    ));
    assert!(matches(
        doc! { "a": { "$eq": regex("x", "") } },
        doc! { "a": regex("x", "") }
    ));
    assert!(!matches(
        doc! { "a": { "$eq": regex("x", "") } },
        doc! { "a": "x" }
    ));
}

#[test]
fn documents_are_equal_with_their_fields_in_order() {
    assert!(matches(
        doc! { "a": { "b": 1, "c": 2 } },
        doc! { "a": { "b": 1, "c": 2.0 } }
    ));
    assert!(!matches(
        doc! { "a": { "c": 2, "b": 1 } },
        doc! { "a": { "b": 1, "c": 2 } }
    ));
    assert!(matches(doc! { "a": {} }, doc! { "a": {} }));
    let reference = doc! { "$ref": "c", "$id": 1 };
    assert!(matches(
        doc! { "a": reference.clone() },
        doc! { "a": reference }
    ));
}

#[test]
fn an_operator_that_is_unknown_or_not_supported_is_named() {
    let name = |filter| refused(filter).to_string();
    assert!(name(doc! { "a": { "$near": 1 } }).starts_with("operator `$near` is not supported"));
    for operator in ["$where", "$text", "$sampleRate"] {
        let text = name(doc! { operator: "x" });
        assert!(
            text.starts_with(&format!("operator `{operator}` is not supported; ")),
            "{text}"
        );
    }
    let unknown = |name: &str| Error::UnknownOperator {
        operator: name.to_owned(),
        code: 2,
    };
    assert_eq!(refused(doc! { "$not": {} }), unknown("$not"));
    assert_eq!(refused(doc! { "a": { "$gt": 1, "b": 1 } }), unknown("b"));
    assert_eq!(
        name(doc! { "a": { "$x": {} } }),
        "unknown operator `$x`: it does not exist, or is not supported here"
    );
}

#[test]
fn what_an_operator_cannot_use_is_refused() {
    for wrong in [
        doc! { "$and": [] },
        doc! { "$or": {} },
        doc! { "$nor": [1] },
        doc! { "a": { "$in": 1 } },
        doc! { "a": { "$in": [{ "$gt": 1 }] } },
        doc! { "a": { "$all": 1 } },
        doc! { "a": { "$all": [{ "$elemMatch": {} }, 1] } },
        doc! { "a": { "$all": [{ "$gt": 1 }] } },
        doc! { "a": { "$size": -1 } },
        doc! { "a": { "$size": 1.5 } },
        doc! { "a": { "$size": 2_147_483_648_i64 } },
        doc! { "a": { "$mod": [0, 1] } },
        doc! { "a": { "$mod": [1] } },
        doc! { "a": { "$mod": [1, "a"] } },
        doc! { "a": { "$mod": [f64::NAN, 1] } },
        doc! { "a": { "$bitsAllSet": -1 } },
        doc! { "a": { "$bitsAllSet": 1.5 } },
        doc! { "a": { "$bitsAnySet": [-1] } },
        doc! { "a": { "$bitsAnyClear": "a" } },
        doc! { "a": { "$type": "text" } },
        doc! { "a": { "$type": [] } },
        doc! { "a": { "$elemMatch": 1 } },
        doc! { "a": { "$not": 1 } },
        doc! { "a": { "$not": {} } },
        doc! { "a": { "$options": "i" } },
        doc! { "a": { "$regex": "x", "$options": "q" } },
        doc! { "a": { "$regex": regex("x", "i"), "$options": "m" } },
        doc! { "a": { "$regex": 1 } },
        doc! { "a": { "$gt": regex("x", "") } },
        doc! { "a": { "$ne": regex("x", "") } },
        doc! { "a": Bson::Undefined },
    ] {
        let error = refused(wrong.clone());
        assert!(
            matches!(error, Error::BadOperand { .. }),
            "{wrong}: {error}"
        );
        assert!(!error.is_about_document());
    }
    assert!(matches!(
        refused(doc! { "a": { "$regex": "(" } }),
        Error::InvalidRegex { .. }
    ));
    assert!(matches!(refused(doc! { "a\0": 1 }), Error::BadPath { .. }));
}

#[test]
fn a_filter_of_absurd_depth_is_refused() {
    let nested =
        |levels: usize| (0..levels).fold(doc! { "a": 1 }, |inner, _| doc! { "$and": [inner] });
    assert!(Filter::parse(&nested(89)).is_ok());
    assert_eq!(Filter::parse(&nested(91)), Err(Error::TooDeep(180)));
    assert_eq!(Filter::parse(&nested(400)), Err(Error::TooDeep(180)));
}

#[test]
fn and_flattens() {
    let a = parse(doc! { "a": 1 });
    let b = parse(doc! { "b": 1, "c": 1 });
    assert_eq!(
        a.clone().and(b.clone()),
        parse(doc! { "a": 1, "b": 1, "c": 1 })
    );
    assert_eq!(Filter::default().and(a.clone()), a);
    assert_eq!(a.clone().and(Filter::default()), a);
}

#[test]
fn a_filter_is_written_as_a_user_would() {
    for document in [
        doc! { "a": 1, "b": { "$gt": 1, "$lt": 5 } },
        doc! { "$or": [{ "a": 1 }, { "b": null }], "c": { "$in": [1, 2] } },
        doc! { "a": { "$gt": 1 }, "b": 1, "$and": [{ "a": { "$lt": 5 } }, { "c": 1 }] },
        doc! { "a": { "$not": { "$regex": "x", "$options": "i" } } },
        doc! { "a": { "$elemMatch": { "b": 1, "c": { "$exists": true } } } },
        doc! { "a": { "$eq": { "$ref": 1, "x": 2 } } },
        doc! {},
    ] {
        assert_eq!(parse(document.clone()).to_document(), document);
    }
}

#[test]
fn filters_that_no_document_reads_as_keep_their_meaning() {
    let path = |test| Filter::Path("a".into(), test);
    let number = |value: i32| raw_value(value);
    for filter in [
        Filter::Or(vec![]),
        Filter::Nor(vec![]),
        path(Test::Not(vec![])),
        path(Test::Not(vec![Test::Gt(number(1)), Test::Gt(number(2))])),
        path(Test::ElemTest(vec![])),
        path(Test::ElemTest(vec![
            Test::Gt(number(1)),
            Test::Gt(number(2)),
        ])),
        path(Test::Not(vec![
            Test::Not(vec![]),
            Test::Not(vec![Test::Gt(number(1))]),
        ])),
        path(Test::All(vec![])),
        Filter::And(vec![
            Filter::And(vec![path(Test::Gt(number(1)))]),
            path(Test::Gt(number(2))),
        ]),
    ] {
        let again = parse(filter.to_document());
        for document in [doc! {}, doc! { "a": 1 }, doc! { "a": 2 }, doc! { "a": [3] }] {
            let document = raw(document);
            assert_eq!(
                filter.matches(&document),
                again.matches(&document),
                "{filter:?}"
            );
        }
    }
}

#[test]
fn an_upsert_starts_from_the_fields_that_are_fixed() {
    let seed = |filter: Document| parse(filter).upsert_seed();
    assert_eq!(
        seed(doc! { "x": 1, "b.c": { "$eq": 2 }, "_id": 7, "a": { "$gt": 1 }, "b.a": 3 }),
        Ok(doc! { "_id": 7, "b": { "a": 3, "c": 2 }, "x": 1 })
    );
    assert_eq!(
        seed(doc! { "x": { "$in": [1] }, "y": { "$all": [2] } }),
        Ok(doc! { "x": 1, "y": 2 })
    );
    assert_eq!(
        seed(doc! { "$and": [{ "x": 1 }], "$or": [{ "y": 2 }] }),
        Ok(doc! { "x": 1, "y": 2 })
    );
    for none in [
        doc! { "x": { "$in": [1, 2] } },
        doc! { "x": { "$ne": 1 } },
        doc! { "x": { "$elemMatch": { "$eq": 1 } } },
        doc! { "x": { "$not": { "$eq": 1 } } },
        doc! { "x": regex("a", "") },
        doc! { "$or": [{ "x": 1 }, { "x": 2 }] },
        doc! { "$nor": [{ "x": 1 }] },
    ] {
        assert_eq!(seed(none), Ok(doc! {}));
    }
    for ambiguous in [
        doc! { "$and": [{ "x": 1 }, { "x": 1 }] },
        doc! { "x": { "$all": [1, 2] } },
        doc! { "x": { "x": 1 }, "x.y": 1 },
    ] {
        assert!(matches!(seed(ambiguous), Err(Error::AmbiguousSeed(_))));
    }
}

#[test]
fn a_broken_document_is_matched_without_harm() {
    let mut bytes = raw(doc! { "a": "text", "b": 1 }).into_bytes();
    bytes[7] = 0xff;
    let document = bson::RawDocumentBuf::from_bytes(bytes).expect("the frame is sound");
    let matches = |filter| parse(filter).matches(&document);
    assert_eq!(matches(doc! { "a": "text" }), Ok(false));
    assert_eq!(matches(doc! { "b": null }), Ok(true));
}

#[test]
fn patterns_that_are_excluded_beside_a_negation_are_read_back() {
    let excluded = doc! { "$not": { "$not": { "$eq": 1 } }, "$nin": ["y", regex("^x", "")] };
    for (value, is_match) in [("x", true), ("y", true), ("z", true)] {
        let filter = doc! { "c": { "$not": excluded.clone() } };
        assert_eq!(matches(filter, doc! { "c": value }), is_match, "{value}");
    }
    assert!(!matches(
        doc! { "c": { "$not": excluded } },
        doc! { "c": 1 }
    ));
    let only = doc! { "c": { "$nin": [regex("^x", "")] } };
    assert!(matches(only.clone(), doc! { "c": "y" }));
    assert!(!matches(only, doc! { "c": "x" }));
}
