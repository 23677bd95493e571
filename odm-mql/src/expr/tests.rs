mod arrays;
mod bindings;
mod bounds;
mod dates;
mod joins;
mod searches;

use bson::{RawDocumentBuf, doc};
use proptest::prelude::*;

use super::*;
use crate::{
    Filter,
    testing::{document, raw},
};

/// The value of an expression for a document, in MongoDB's form. Its form parses to the same expression.
fn value(expression: impl Into<Bson>, document: Document) -> Option<Bson> {
    evaluated(expression, document).expect("a value")
}

fn evaluated(expression: impl Into<Bson>, document: Document) -> Result<Option<Bson>, Error> {
    let expression = Expr::parse(&expression.into()).expect("an expression");
    assert_eq!(Expr::parse(&expression.to_bson()), Ok(expression.clone()));
    let value = expression.evaluate(&raw(document))?;
    Ok(value.map(|value| from_raw(&value)))
}

fn code(expression: Bson) -> i32 {
    Expr::parse(&expression).expect_err("no expression").code()
}

fn decimal(text: &str) -> Bson {
    Bson::Decimal128(text.parse().expect("a decimal"))
}

#[test]
fn a_path_goes_through_documents_and_the_elements_of_arrays() {
    let document = doc! { "a": { "b": 1 }, "c": [{ "d": 1 }, { "e": 2 }, 3, { "d": [4] }] };
    assert_eq!(value("$a.b", document.clone()), Some(1.into()));
    assert_eq!(value("$$ROOT.a.b", document.clone()), Some(1.into()));
    let values: Bson = vec![Bson::from(1), vec![4].into()].into();
    assert_eq!(value("$c.d", document.clone()), Some(values));
    // A number is a name.
    assert_eq!(
        value("$c.0", document.clone()),
        Some(Bson::Array(Vec::new()))
    );
    assert_eq!(value("$x", document.clone()), None);
    assert_eq!(value("$a.b.c", document.clone()), None);
    assert_eq!(value("$$REMOVE", document.clone()), None);
    assert_eq!(value("$$CURRENT", document.clone()), Some(document.into()));
}

#[test]
fn comparisons_are_of_all_types_and_a_missing_value_is_less_than_null() {
    let operands = |operator: &str, a: Bson, b: Bson| value(doc! { operator: [a, b] }, doc! {});
    assert_eq!(operands("$eq", 1.into(), 1.0.into()), Some(true.into()));
    assert_eq!(operands("$lt", 1.into(), "a".into()), Some(true.into()));
    assert_eq!(operands("$eq", "$x".into(), Bson::Null), Some(false.into()));
    assert_eq!(operands("$lt", "$x".into(), Bson::Null), Some(true.into()));
    assert_eq!(operands("$cmp", 2.into(), 1.into()), Some(1.into()));
    assert_eq!(operands("$gte", 1.into(), 1.into()), Some(true.into()));
    assert_eq!(operands("$ne", 1.into(), 2.into()), Some(true.into()));
}

#[test]
fn conditions_evaluate_only_what_they_choose() {
    let fails = doc! { "$divide": [1, 0] };
    let a = doc! { "a": 5 };
    assert_eq!(
        value(doc! { "$cond": [true, 1, fails.clone()] }, a.clone()),
        Some(1.into())
    );
    let by_name =
        doc! { "$cond": { "if": { "$gt": ["$a", 9] }, "then": fails.clone(), "else": 2 } };
    assert_eq!(value(by_name, a.clone()), Some(2.into()));
    assert_eq!(
        value(doc! { "$or": ["$a", fails.clone()] }, a.clone()),
        Some(true.into())
    );
    assert_eq!(
        value(doc! { "$and": [0, fails.clone()] }, a.clone()),
        Some(false.into())
    );
    assert_eq!(
        value(doc! { "$ifNull": ["$x", null, "$a", fails] }, a.clone()),
        Some(5.into())
    );
    let branches = [
        doc! { "case": false, "then": 1 },
        doc! { "case": "$a", "then": 2 },
    ];
    let switch = doc! { "$switch": { "branches": branches.to_vec(), "default": 3 } };
    assert_eq!(value(switch.clone(), a), Some(2.into()));
    assert_eq!(value(switch, doc! { "a": 0 }), Some(3.into()));
    let none = doc! { "$switch": { "branches": [{ "case": false, "then": 1 }] } };
    assert_eq!(
        evaluated(none, doc! {}).expect_err("no case").code(),
        40_069
    );
}

#[test]
fn numbers_are_calculated_with_in_the_wider_type() {
    for (expression, expected) in [
        (doc! { "$add": [1, 2] }, Bson::Int32(3)),
        (doc! { "$add": [i32::MAX, 1] }, Bson::Int64(1 << 31)),
        (
            doc! { "$add": [i64::MAX, 1] },
            Bson::Double(9_223_372_036_854_775_808.0),
        ),
        (doc! { "$add": [1, 2_i64] }, Bson::Int64(3)),
        (doc! { "$add": [1, 0.5] }, Bson::Double(1.5)),
        (doc! { "$add": [decimal("0.1"), 1] }, decimal("1.1")),
        (doc! { "$add": [1, null] }, Bson::Null),
        (doc! { "$subtract": [1, "$x"] }, Bson::Null),
        (doc! { "$subtract": [5, 7] }, Bson::Int32(-2)),
        (doc! { "$multiply": [2, 3, 4] }, Bson::Int32(24)),
        (doc! { "$divide": [1, 2] }, Bson::Double(0.5)),
        (doc! { "$mod": [-7, 3] }, Bson::Int32(-1)),
        (doc! { "$mod": [7.5, 2] }, Bson::Double(1.5)),
        (doc! { "$abs": i32::MIN }, Bson::Int64(1 << 31)),
        (doc! { "$ceil": 1.2 }, Bson::Double(2.0)),
        (doc! { "$floor": decimal("-1.2") }, decimal("-2")),
        (doc! { "$round": [2.5] }, Bson::Double(2.0)),
        (doc! { "$round": [1.25, 1] }, Bson::Double(1.2)),
        (doc! { "$round": [1250, -2] }, Bson::Int32(1200)),
        (doc! { "$trunc": [-1.99, 1] }, Bson::Double(-1.9)),
        (doc! { "$size": [[1, 2]] }, Bson::Int32(2)),
        (doc! { "$in": [2, [1, 2.0]] }, Bson::Boolean(true)),
        (doc! { "$not": [0] }, Bson::Boolean(true)),
        (doc! { "$literal": "$a" }, "$a".into()),
    ] {
        assert_eq!(
            value(expression.clone(), doc! {}),
            Some(expected),
            "{expression}"
        );
    }
}

#[test]
fn dates_are_moved_by_milliseconds() {
    let date = |millis| Bson::DateTime(bson::DateTime::from_millis(millis));
    assert_eq!(
        value(doc! { "$add": [date(5), 10] }, doc! {}),
        Some(date(15))
    );
    assert_eq!(
        value(doc! { "$subtract": [date(5), 1.6] }, doc! {}),
        Some(date(3))
    );
    assert_eq!(
        value(doc! { "$subtract": [date(5), date(9)] }, doc! {}),
        Some((-4_i64).into())
    );
    let twice = doc! { "$add": [date(1), date(2)] };
    assert_eq!(
        evaluated(twice, doc! {}).expect_err("two dates").code(),
        16_612
    );
}

#[test]
fn values_of_the_wrong_type_are_errors_with_the_codes_of_mongodb() {
    for (expression, code) in [
        (doc! { "$add": [1, "a"] }, 14),
        (doc! { "$subtract": ["a", 1] }, 14),
        (doc! { "$divide": [1, 0] }, 2),
        (doc! { "$divide": [decimal("1"), decimal("0.0")] }, 2),
        (doc! { "$mod": [1, 0] }, 16_610),
        (doc! { "$abs": "a" }, 28_765),
        (doc! { "$abs": i64::MIN }, 28_680),
        (doc! { "$round": [1, 101] }, 51_083),
        (doc! { "$in": [1, 1] }, 40_081),
        (doc! { "$size": "$x" }, 17_124),
        (doc! { "$arrayElemAt": [1, 0] }, 28_689),
        (doc! { "$arrayElemAt": [[1], "a"] }, 28_690),
        (doc! { "$arrayElemAt": [[1], 0.5] }, 28_691),
        (doc! { "$arrayElemAt": [[1], 1_i64 << 31] }, 28_691),
        (doc! { "$first": "a" }, 28_689),
        (doc! { "$last": { "b": 1 } }, 28_689),
        (doc! { "$slice": [1, 1] }, 28_724),
        (doc! { "$slice": [1, 1, null] }, 28_724),
        (doc! { "$slice": [[1], "a"] }, 28_725),
        (doc! { "$slice": [[1], f64::INFINITY] }, 28_726),
        (doc! { "$slice": [[1], 0.5, null] }, 28_726),
        (doc! { "$slice": [[1], 1, "a"] }, 28_727),
        (doc! { "$slice": [[1], 1, 1e10] }, 28_728),
        (doc! { "$slice": [[1], 1, 0] }, 28_729),
    ] {
        let error = evaluated(expression.clone(), doc! {}).expect_err("a wrong type");
        assert_eq!(error.code(), code, "{expression}: {error}");
    }
}

#[test]
fn what_is_no_expression_is_refused() {
    assert_eq!(code(doc! { "$function": ["a", "b"] }.into()), 168);
    assert_eq!(code(doc! { "$eq": [1] }.into()), 16_020);
    assert_eq!(code(doc! { "$first": [1, 2] }.into()), 16_020);
    assert_eq!(code(doc! { "$type": [] }.into()), 16_020);
    assert_eq!(code(doc! { "$slice": ["$a"] }.into()), 28_667);
    assert_eq!(code(doc! { "$eq": [1, 1], "$ne": [1, 1] }.into()), 15_983);
    assert_eq!(code("$".into()), 16_872);
    assert_eq!(code("$$".into()), 9);
    assert_eq!(code("$$other".into()), 17_276);
    assert_eq!(code("$a..b".into()), 15_998);
    assert_eq!(code("$$ROOT.".into()), 40_353);
    assert_eq!(
        code(doc! { "$cond": { "if": 1, "then": 2 } }.into()),
        17_082
    );
    assert_eq!(code(doc! { "$switch": { "branches": [] } }.into()), 40_068);
    assert_eq!(code(doc! { "a.b": 1 }.into()), 16_412);
}

#[test]
fn the_paths_of_a_filter_are_those_of_its_expressions_too() {
    let filter = doc! { "$expr": { "$and": [{ "$gt": ["$a.b", "$c"] }, { "x": ["$d"] }] }, "e": 1 };
    let filter = Filter::parse(&filter).expect("a filter");
    assert_eq!(filter.paths(), ["a.b", "c", "d", "e"]);
    assert!(filter.has_expr());
    let moved = filter.with_paths(&|path| format!("x.{path}").into());
    assert_eq!(moved.paths(), ["x.a.b", "x.c", "x.d", "x.e"]);
}

#[test]
fn an_expression_in_a_filter_is_on_the_whole_document() {
    let filter =
        Filter::parse(&doc! { "$expr": { "$gt": ["$spent", "$budget"] } }).expect("a filter");
    let matches = |document| filter.matches(&raw(document));
    assert_eq!(matches(doc! { "spent": 5, "budget": 3 }), Ok(true));
    assert_eq!(matches(doc! { "spent": 1, "budget": 3 }), Ok(false));
    // No array is opened.
    assert_eq!(matches(doc! { "spent": [1], "budget": 3 }), Ok(true));
    let fails = Filter::parse(&doc! { "$expr": { "$add": ["$a", 1] } }).expect("a filter");
    assert!(fails.matches(&raw(doc! { "a": "text" })).is_err());
    let element = doc! { "a": { "$elemMatch": { "$expr": true } } };
    assert_eq!(Filter::parse(&element).expect_err("an element").code(), 2);
}

#[test]
fn parts_of_arrays_are_taken_by_positions_from_either_end() {
    let a = || doc! { "a": [1, 2, 3] };
    let array = |values: &[i32]| {
        Some(Bson::Array(
            values.iter().copied().map(Bson::Int32).collect(),
        ))
    };
    for (expression, expected) in [
        (doc! { "$arrayElemAt": ["$a", 0] }, Some(1.into())),
        (doc! { "$arrayElemAt": ["$a", 2.0] }, Some(3.into())),
        (doc! { "$arrayElemAt": ["$a", -3_i64] }, Some(1.into())),
        (
            doc! { "$arrayElemAt": ["$a", decimal("-1")] },
            Some(3.into()),
        ),
        (doc! { "$arrayElemAt": ["$a", 3] }, None),
        (doc! { "$arrayElemAt": ["$a", -4] }, None),
        (
            doc! { "$arrayElemAt": ["$x", "no number"] },
            Some(Bson::Null),
        ),
        (
            doc! { "$arrayElemAt": ["no array", null] },
            Some(Bson::Null),
        ),
        (doc! { "$first": "$a" }, Some(1.into())),
        (doc! { "$last": "$a" }, Some(3.into())),
        (doc! { "$first": [[]] }, None),
        (doc! { "$last": [[]] }, None),
        (doc! { "$first": "$x" }, Some(Bson::Null)),
        (doc! { "$last": null }, Some(Bson::Null)),
        (doc! { "$slice": ["$a", 2] }, array(&[1, 2])),
        (doc! { "$slice": ["$a", 0] }, array(&[])),
        (doc! { "$slice": ["$a", -2] }, array(&[2, 3])),
        (doc! { "$slice": ["$a", i32::MIN] }, array(&[1, 2, 3])),
        (doc! { "$slice": ["$a", 1, 1] }, array(&[2])),
        (doc! { "$slice": ["$a", -2, 9] }, array(&[2, 3])),
        (doc! { "$slice": ["$a", -9, 1] }, array(&[1])),
        (doc! { "$slice": ["$a", 9, i32::MAX] }, array(&[])),
        (
            doc! { "$slice": ["$a", null, "no number"] },
            Some(Bson::Null),
        ),
        (doc! { "$slice": ["$a", 1, "$x"] }, Some(Bson::Null)),
        (doc! { "$slice": [null, "no number"] }, Some(Bson::Null)),
        (doc! { "$isArray": "$a" }, Some(true.into())),
        (doc! { "$isArray": "$x" }, Some(false.into())),
        (doc! { "$isArray": ["$a"] }, Some(true.into())),
        (doc! { "$isArray": [["$a"]] }, Some(true.into())),
        (doc! { "$type": "$a" }, Some("array".into())),
        (doc! { "$type": "$x" }, Some("missing".into())),
        (doc! { "$type": 1_i64 }, Some("long".into())),
        (doc! { "$type": null }, Some("null".into())),
    ] {
        assert_eq!(value(expression.clone(), a()), expected, "{expression}");
    }
}

const BINARY: [&str; 19] = [
    "$eq",
    "$lt",
    "$cmp",
    "$and",
    "$or",
    "$add",
    "$subtract",
    "$multiply",
    "$divide",
    "$mod",
    "$round",
    "$trunc",
    "$ifNull",
    "$in",
    "$arrayElemAt",
    "$slice",
    "$concat",
    "$concatArrays",
    "$mergeObjects",
];

const UNARY: [&str; 21] = [
    "$abs",
    "$ceil",
    "$floor",
    "$not",
    "$size",
    "$first",
    "$last",
    "$isArray",
    "$type",
    "$isNumber",
    "$toDouble",
    "$toInt",
    "$toLong",
    "$toDecimal",
    "$toString",
    "$toBool",
    "$toDate",
    "$toObjectId",
    "$toLower",
    "$toUpper",
    "$strLenCP",
];

/// Expressions of all operators on few values and paths.
fn expression() -> impl Strategy<Value = Bson> {
    let leaf = prop_oneof![
        (-2..3_i32).prop_map(Bson::Int32),
        Just(Bson::Int64(i64::MAX)),
        Just(Bson::Double(-1.5)),
        Just(decimal("2.50")),
        Just(Bson::Null),
        Just(Bson::from("$a")),
        Just(Bson::from("$a.b")),
        Just(Bson::from("$c")),
        Just(Bson::from("$$ROOT")),
        Just(Bson::from("$$REMOVE")),
        Just(Bson::from(doc! { "$literal": "$a" })),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            (prop::sample::select(&BINARY), inner.clone(), inner.clone())
                .prop_map(|(operator, a, b)| doc! { operator: [a, b] }.into()),
            (prop::sample::select(&UNARY), inner.clone())
                .prop_map(|(operator, operand)| doc! { operator: [operand] }.into()),
            prop::collection::vec(inner.clone(), 3).prop_map(|all| doc! { "$cond": all }.into()),
            prop::collection::vec(inner.clone(), 3)
                .prop_map(|all| doc! { "$substrCP": all }.into()),
            conversion(inner.clone()),
            inner
                .clone()
                .prop_map(|input| doc! { "$getField": { "field": "a", "input": input } }.into()),
            (inner.clone(), inner.clone()).prop_map(|(input, value)| {
                doc! { "$setField": { "field": "c", "input": input, "value": value } }.into()
            }),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| doc! { "x": a, "y": [b] }.into()),
            (inner.clone(), inner).prop_map(|(case, then)| {
                doc! { "$switch": { "branches": [{ "case": case, "then": then }] } }.into()
            }),
        ]
    })
}

fn conversion(operand: impl Strategy<Value = Bson> + Clone) -> impl Strategy<Value = Bson> {
    let to = prop_oneof![
        prop::sample::select(&["int", "string", "missing", "$c"]).prop_map(Bson::from),
        Just(Bson::from(doc! { "type": 9 })),
        operand.clone(),
    ];
    let other = prop::option::of(operand.clone());
    (operand, to, other.clone(), other).prop_map(|(input, to, on_error, on_null)| {
        let mut convert = doc! { "input": input, "to": to };
        convert.extend(on_error.map(|value| ("onError".to_owned(), value)));
        convert.extend(on_null.map(|value| ("onNull".to_owned(), value)));
        doc! { "$convert": convert }.into()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn an_expression_is_read_as_it_was_written(expression in expression(), document in document()) {
        let first = Expr::parse(&expression).expect("an expression");
        let again = Expr::parse(&first.to_bson()).expect("an expression");
        let document: RawDocumentBuf = raw(document);
        // Compared as text, in which NaN equals NaN.
        prop_assert_eq!(
            format!("{:?}", again.evaluate(&document)),
            format!("{:?}", first.evaluate(&document))
        );
    }
}

#[test]
fn an_operator_on_a_decimal_and_a_double_reads_fifteen_digits_of_it() {
    for (expression, text) in [
        (doc! { "$add": [2.5, decimal("3.5")] }, "6.00000000000000"),
        (
            doc! { "$subtract": [decimal("3.5"), 2.5] },
            "1.00000000000000",
        ),
        (
            doc! { "$multiply": [2.5, decimal("2")] },
            "5.00000000000000",
        ),
        (doc! { "$divide": [decimal("5"), 2.0] }, "2.5"),
        (doc! { "$add": [2, decimal("3.5")] }, "5.5"),
        (doc! { "$abs": decimal("-2.50") }, "2.50"),
        (doc! { "$round": [decimal("2.55"), 1] }, "2.6"),
        (doc! { "$trunc": [decimal("2.55"), 1] }, "2.5"),
    ] {
        match value(expression.clone(), Document::new()) {
            Some(Bson::Decimal128(value)) => assert_eq!(value.to_string(), text, "{expression}"),
            other => panic!("{expression}: {other:?}"),
        }
    }
}

#[test]
fn an_expression_that_is_nested_too_deep_is_refused() {
    let mut deep = Bson::Int32(1);
    for _ in 0..1_000 {
        deep = doc! { "$abs": deep }.into();
    }
    assert_eq!(Expr::parse(&deep), Err(Error::TooDeep(180)));
}
