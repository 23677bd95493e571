use bson::{Bson, DateTime, Document, RawBson, doc, spec::ElementType};
use proptest::prelude::*;

use super::*;
use crate::{
    order,
    testing::{raw, raw_value},
};

fn rows(group: &Group, documents: &[Document]) -> Vec<Document> {
    let mut grouping = group.begin().expect("the paths are valid");
    for document in documents {
        grouping
            .add(&raw(document.clone()))
            .expect("the keys are valid");
    }
    let rows = grouping.into_rows().map(|row| row.expect("a row"));
    rows.map(|row| Document::try_from(row).expect("valid BSON"))
        .collect()
}

fn keys(paths: &[&'static str]) -> Vec<GroupKey> {
    let key = |path: &&'static str| GroupKey {
        path: (*path).into(),
        start_of: None,
    };
    paths.iter().map(key).collect()
}

fn all(accumulators: Vec<Accumulator>) -> Group {
    Group {
        accumulators,
        ..Group::default()
    }
}

fn of(accumulator: Accumulator, values: impl IntoIterator<Item = Bson>) -> Bson {
    let documents: Vec<Document> = values
        .into_iter()
        .map(|value| doc! { "a": value })
        .collect();
    let mut row = rows(&all(vec![accumulator]), &documents).remove(0);
    row.remove("0").expect("a value")
}

fn sum(values: impl IntoIterator<Item = Bson>) -> Bson {
    of(Accumulator::Sum("a".into()), values)
}

fn avg(values: impl IntoIterator<Item = Bson>) -> Bson {
    of(Accumulator::Avg("a".into()), values)
}

fn decimal(text: &str) -> Bson {
    Bson::Decimal128(text.parse().expect("a decimal"))
}

#[test]
fn a_sum_has_the_widest_type_of_its_numbers_and_ignores_the_rest() {
    assert_eq!(sum([]), Bson::Int32(0));
    assert_eq!(
        sum([Bson::Null, "7".into(), doc! { "b": 1 }.into()]),
        Bson::Int32(0)
    );
    assert_eq!(sum([Bson::Int32(1), Bson::Int32(2)]), Bson::Int32(3));
    assert_eq!(sum([Bson::Int32(1), Bson::Int64(2)]), Bson::Int64(3));
    assert_eq!(sum([Bson::Int32(1), Bson::Double(0.5)]), Bson::Double(1.5));
    let all = sum([Bson::Int32(1), Bson::Double(0.5), decimal("0.1")]);
    assert_eq!(all.element_type(), ElementType::Decimal128);
    assert!(equal(&all, &decimal("1.6")), "{all}");
    assert_eq!(sum([Bson::Array(vec![Bson::Int32(7)])]), Bson::Int32(0));
}

#[test]
fn a_sum_of_whole_numbers_is_exact_and_a_double_beyond_64_bits() {
    assert_eq!(
        sum([Bson::Int32(i32::MAX), Bson::Int32(1)]),
        Bson::Int64(1 << 31)
    );
    let there_and_back = [
        Bson::Int64(i64::MAX),
        Bson::Int64(i64::MAX),
        Bson::Int64(-i64::MAX),
    ];
    assert_eq!(sum(there_and_back), Bson::Int64(i64::MAX));
    let beyond = [Bson::Int64(i64::MAX), Bson::Int64(i64::MAX)];
    assert_eq!(
        sum(beyond.clone()),
        Bson::Double(18_446_744_073_709_551_614.0)
    );
    assert_eq!(
        avg(beyond.clone()),
        Bson::Double(9_223_372_036_854_775_807.0)
    );
    let with_decimal = beyond.into_iter().chain([decimal("0.5")]);
    assert_eq!(sum(with_decimal), decimal("18446744073709551614.5"));
}

#[test]
fn what_is_rounded_off_a_sum_of_doubles_is_not_lost() {
    let tenths = std::iter::repeat_n(Bson::Double(0.1), 1000);
    assert_eq!(sum(tenths), Bson::Double(100.0));
    assert_eq!(
        sum([1e100, 1.0, -1e100].map(Bson::Double)),
        Bson::Double(1.0)
    );
    assert_eq!(
        sum([f64::INFINITY, 1.0].map(Bson::Double)),
        Bson::Double(f64::INFINITY)
    );
    assert_eq!(
        sum([f64::MAX, f64::MAX].map(Bson::Double)),
        Bson::Double(f64::INFINITY)
    );
    let Bson::Double(none) = sum([f64::INFINITY, f64::NEG_INFINITY, 1.0].map(Bson::Double)) else {
        panic!("not a double");
    };
    assert!(none.is_nan());
}

#[test]
fn a_mean_is_null_without_numbers() {
    assert_eq!(avg([]), Bson::Null);
    assert_eq!(avg([Bson::Null, "7".into()]), Bson::Null);
    assert_eq!(
        avg([Bson::Int32(1), "7".into(), Bson::Int64(2)]),
        Bson::Double(1.5)
    );
    assert_eq!(avg([decimal("1"), decimal("2")]), decimal("1.5"));
}

#[test]
fn the_extremes_ignore_null_and_are_in_the_order_of_all_types() {
    let values = || [Bson::Null, "x".into(), Bson::Int32(7), Bson::Boolean(false)];
    assert_eq!(of(Accumulator::Min("a".into()), values()), Bson::Int32(7));
    assert_eq!(
        of(Accumulator::Max("a".into()), values()),
        Bson::Boolean(false)
    );
    assert_eq!(of(Accumulator::Max("a".into()), [Bson::Null]), Bson::Null);
    assert_eq!(of(Accumulator::Min("a".into()), []), Bson::Null);
}

#[test]
fn without_keys_there_is_one_row_and_with_keys_none_without_documents() {
    let mut group = all(vec![Accumulator::Count]);
    assert_eq!(rows(&group, &[]), [doc! { "_id": {}, "0": 0_i64 }]);
    group.keys = keys(&["a"]);
    assert_eq!(rows(&group, &[]), [] as [Document; 0]);
    assert_eq!(
        rows(&group, &[doc! {}]),
        [doc! { "_id": { "0": null }, "0": 1_i64 }]
    );
}

#[test]
fn each_element_of_the_array_that_is_unwound_stands_in_its_place() {
    let group = Group {
        unwind: Some("lines".into()),
        keys: keys(&["lines.product", "kind"]),
        accumulators: vec![
            Accumulator::Count,
            Accumulator::Sum("lines.quantity".into()),
        ],
    };
    let documents = [
        doc! { "kind": 1, "lines": [{ "product": "a", "quantity": 2 }, { "product": "b", "quantity": 3 }] },
        doc! { "kind": 1, "lines": [{ "product": "a", "quantity": 5 }, 7] },
        doc! { "kind": 1, "lines": { "product": "b", "quantity": 1 } },
        doc! { "kind": 1, "lines": [] },
        doc! { "kind": 1, "lines": null },
        doc! { "kind": 1 },
    ];
    let expected = [
        doc! { "_id": { "0": null, "1": 1 }, "0": 1_i64, "1": 0 },
        doc! { "_id": { "0": "a", "1": 1 }, "0": 2_i64, "1": 7 },
        doc! { "_id": { "0": "b", "1": 1 }, "0": 2_i64, "1": 4 },
    ];
    assert_eq!(rows(&group, &documents), expected);
    let tags = Group {
        unwind: Some("tags".into()),
        keys: keys(&["tags"]),
        accumulators: vec![Accumulator::Count],
    };
    let documents = [
        doc! { "tags": ["x", "y"] },
        doc! { "tags": ["y", "y"] },
        doc! { "tags": "x" },
    ];
    let expected = [
        doc! { "_id": { "0": "x" }, "0": 2_i64 },
        doc! { "_id": { "0": "y" }, "0": 3_i64 },
    ];
    assert_eq!(rows(&tags, &documents), expected);
}

#[test]
fn paths_that_name_no_field_or_hold_the_unwound_array_are_refused() {
    for (unwind, path) in [(None, ""), (None, "a..b"), (None, "$a"), (Some("a.b"), "a")] {
        let group = Group {
            unwind: unwind.map(Into::into),
            keys: keys(&[path]),
            ..Group::default()
        };
        let error = group.begin().expect_err("the path is invalid");
        assert!(matches!(error, Error::BadPath { .. }), "{error}");
    }
    let beside = Group {
        unwind: Some("a".into()),
        keys: keys(&["ab"]),
        ..Group::default()
    };
    assert_eq!(
        rows(&beside, &[doc! { "a": [1, 2], "ab": 3 }]),
        [doc! { "_id": { "0": 3 } }]
    );
}

#[test]
fn a_group_by_the_start_of_a_unit_refuses_what_is_no_date() {
    let group = Group {
        keys: vec![GroupKey {
            path: "a".into(),
            start_of: Some(DateUnit::Day),
        }],
        ..Group::default()
    };
    let mut grouping = group.begin().unwrap();
    grouping.add(&raw(doc! { "a": null })).unwrap();
    let error = grouping.add(&raw(doc! { "a": "2026-01-01" })).unwrap_err();
    assert!(
        error.to_string().contains("`a` must be a date, not string"),
        "{error}"
    );
}

#[test]
fn the_memory_of_a_greatest_value_is_that_of_the_longest_so_far() {
    let group = Group {
        accumulators: vec![Accumulator::Max("a".into())],
        ..Group::default()
    };
    let mut grouping = group.begin().expect("a group");
    let before = grouping.memory();
    for number in 100..999 {
        let document = raw(doc! { "a": format!("{number}{}", "x".repeat(number)) });
        grouping.add(&document).expect("a document");
        grouping
            .add(&raw(doc! { "a": number.to_string() }))
            .expect("a document");
    }
    assert_eq!(grouping.memory() - before, 3 + 998);
}

#[test]
fn the_memory_of_groups_is_counted() {
    let group = Group {
        keys: keys(&["a"]),
        accumulators: vec![Accumulator::Max("b".into())],
        ..Group::default()
    };
    let mut grouping = group.begin().unwrap();
    for number in 0..100 {
        let text = format!("{number:01000}");
        grouping.add(&raw(doc! { "a": &text, "b": &text })).unwrap();
    }
    assert!(grouping.memory() > 300_000, "{}", grouping.memory());
    assert_eq!(grouping.len(), 100);
    let before = grouping.memory();
    grouping
        .add(&raw(doc! { "a": format!("{:01000}", 7), "b": "" }))
        .unwrap();
    assert_eq!(grouping.memory(), before);
}

/// The start of a unit by the texts of dates.
fn start_by_text(unit: DateUnit, date: DateTime) -> DateTime {
    let text = date.try_to_rfc3339_string().expect("a date of RFC 3339");
    let start = match unit {
        DateUnit::Hour => format!("{}:00:00Z", &text[..13]),
        DateUnit::Day => format!("{}T00:00:00Z", &text[..10]),
        DateUnit::Month => format!("{}-01T00:00:00Z", &text[..7]),
        DateUnit::Year => format!("{}-01-01T00:00:00Z", &text[..4]),
    };
    DateTime::parse_rfc3339_str(start).expect("a date")
}

const UNITS: [DateUnit; 4] = [
    DateUnit::Hour,
    DateUnit::Day,
    DateUnit::Month,
    DateUnit::Year,
];

fn number() -> impl Strategy<Value = Bson> {
    // Each sum of these numbers is exact as a double.
    prop_oneof![
        (-9..9_i32).prop_map(Bson::Int32),
        (-9..9_i64).prop_map(Bson::Int64),
        (-9..9_i32).prop_map(|half| Bson::Double(f64::from(half) / 2.0)),
        (-9..9_i32).prop_map(|half| decimal(&format!("{}", f64::from(half) / 2.0))),
    ]
}

fn value() -> impl Strategy<Value = Bson> {
    let scalar = prop_oneof![
        6 => number(),
        1 => "[ab]{0,1}".prop_map(Bson::String),
        1 => Just(Bson::Null),
        1 => any::<bool>().prop_map(Bson::Boolean),
    ];
    scalar.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Bson::Array),
            fields(inner).prop_map(Bson::Document),
        ]
    })
}

fn fields(value: impl Strategy<Value = Bson>) -> impl Strategy<Value = Document> {
    prop::collection::vec(("[abc]", value), 0..4).prop_map(|fields| fields.into_iter().collect())
}

fn path() -> impl Strategy<Value = String> {
    prop_oneof!["[abc]", "[abc]\\.[abc]"]
}

/// The value at a path, by the definition of expressions.
fn value_at(document: &Document, path: &str) -> Option<Bson> {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    match (document.get(name)?, rest) {
        (value, "") => Some(value.clone()),
        (Bson::Document(inner), rest) => value_at(inner, rest),
        (Bson::Array(array), rest) => {
            let inner = array
                .iter()
                .filter_map(|element| value_at(element.as_document()?, rest));
            Some(Bson::Array(inner.collect()))
        }
        _ => None,
    }
}

/// The documents with each element of an array in its place.
fn unwound(documents: &[Document], path: &str) -> Vec<Document> {
    fn set(document: &mut Document, path: &str, value: Bson) {
        match path.split_once('.') {
            None => drop(document.insert(path, value)),
            Some((name, rest)) => {
                set(
                    document.get_document_mut(name).expect("a document"),
                    rest,
                    value,
                );
            }
        }
    }
    fn get<'d>(document: &'d Document, path: &str) -> Option<&'d Bson> {
        match path.split_once('.') {
            None => document.get(path),
            Some((name, rest)) => get(document.get(name)?.as_document()?, rest),
        }
    }
    let mut unwound = Vec::new();
    for document in documents {
        let elements = match get(document, path) {
            None | Some(Bson::Null) => Vec::new(),
            Some(Bson::Array(elements)) => elements.clone(),
            Some(value) => vec![value.clone()],
        };
        for element in elements {
            let mut document = document.clone();
            set(&mut document, path, element);
            unwound.push(document);
        }
    }
    unwound
}

fn equal(a: &Bson, b: &Bson) -> bool {
    let (a, b): (RawBson, RawBson) = (raw_value(a.clone()), raw_value(b.clone()));
    order::equal(a.as_raw_bson_ref(), b.as_raw_bson_ref())
}

fn as_double(value: &Bson) -> Option<f64> {
    match value {
        Bson::Int32(value) => Some((*value).into()),
        Bson::Int64(value) => Some(*value as f64),
        Bson::Double(value) => Some(*value),
        Bson::Decimal128(value) => value.to_string().parse().ok(),
        _ => None,
    }
}

/// Whether a row has the value of an accumulator over these values, one for each document.
fn is_computed(accumulator: &Accumulator, values: &[Option<Bson>], computed: &Bson) -> bool {
    let numbers: Vec<&Bson> = values
        .iter()
        .flatten()
        .filter(|value| as_double(value).is_some())
        .collect();
    let total: f64 = numbers.iter().filter_map(|value| as_double(value)).sum();
    let has = |kind: ElementType| numbers.iter().any(|value| value.element_type() == kind);
    let present = values
        .iter()
        .flatten()
        .filter(|value| **value != Bson::Null);
    let raw_of = |value: &Bson| raw_value(value.clone());
    let extreme = |is_better: fn(std::cmp::Ordering) -> bool| {
        present.clone().fold(Bson::Null, |best, value| {
            let order = order::compare(
                raw_of(value).as_raw_bson_ref(),
                raw_of(&best).as_raw_bson_ref(),
            );
            match best == Bson::Null || is_better(order) {
                true => value.clone(),
                false => best,
            }
        })
    };
    match accumulator {
        Accumulator::Count => *computed == Bson::Int64(values.len() as i64),
        Accumulator::Min(_) => equal(computed, &extreme(std::cmp::Ordering::is_lt)),
        Accumulator::Max(_) => equal(computed, &extreme(std::cmp::Ordering::is_gt)),
        Accumulator::Sum(_) => {
            let kind = [
                ElementType::Decimal128,
                ElementType::Double,
                ElementType::Int64,
            ];
            let kind = kind
                .into_iter()
                .find(|kind| has(*kind))
                .unwrap_or(ElementType::Int32);
            computed.element_type() == kind && as_double(computed) == Some(total)
        }
        Accumulator::Avg(_) if numbers.is_empty() => *computed == Bson::Null,
        Accumulator::Avg(_) => {
            let mean = total / numbers.len() as f64;
            let is_decimal = computed.element_type() == ElementType::Decimal128;
            is_decimal == has(ElementType::Decimal128)
                && (as_double(computed).expect("a number") - mean).abs() < 1e-9
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_start_of_a_unit_is_that_of_its_text(
        millis in -62_135_596_800_000..253_402_300_800_000_i64,
    ) {
        let date = DateTime::from_millis(millis);
        for unit in UNITS {
            prop_assert_eq!(unit.start_of(date), start_by_text(unit, date));
        }
    }

    #[test]
    fn the_start_of_a_unit_is_its_own_start_and_not_later(millis in any::<i64>()) {
        let date = DateTime::from_millis(millis);
        for unit in UNITS {
            let start = unit.start_of(date);
            prop_assert!(start <= date);
            prop_assert_eq!(unit.start_of(start), start);
        }
    }

    #[test]
    fn groups_are_those_of_the_definition(
        documents in prop::collection::vec(fields(value()), 0..12),
        unwind in prop::option::of(path()),
        keys in prop::collection::vec(path(), 0..3),
        field in path(),
    ) {
        let group = Group {
            unwind: unwind.clone().map(Into::into),
            keys: keys.iter().map(|path| GroupKey { path: path.clone().into(), start_of: None }).collect(),
            accumulators: vec![
                Accumulator::Count,
                Accumulator::Sum(field.clone().into()),
                Accumulator::Avg(field.clone().into()),
                Accumulator::Min(field.clone().into()),
                Accumulator::Max(field.clone().into()),
            ],
        };
        let holds = |path: &String| {
            unwind.as_ref().is_some_and(|unwind| unwind.starts_with(&format!("{path}.")))
        };
        prop_assume!(!keys.iter().any(holds) && !holds(&field));
        let found = rows(&group, &documents);
        let documents = match &unwind {
            None => documents,
            Some(path) => unwound(&documents, path),
        };
        let key_of = |document: &Document| {
            let values = keys.iter().map(|path| value_at(document, path).unwrap_or(Bson::Null));
            Bson::Array(values.collect())
        };
        let mut left = documents.len();
        for row in &found {
            let key: Vec<Bson> = row.get_document("_id").unwrap().values().cloned().collect();
            let key = Bson::Array(key);
            let own: Vec<&Document> =
                documents.iter().filter(|document| equal(&key_of(document), &key)).collect();
            left -= own.len();
            let values: Vec<Option<Bson>> =
                own.iter().map(|document| value_at(document, &field)).collect();
            for (at, accumulator) in group.accumulators.iter().enumerate() {
                let computed = row.get(at.to_string()).unwrap();
                prop_assert!(
                    is_computed(accumulator, &values, computed),
                    "{:?} of {:?} is {}", accumulator, values, computed
                );
            }
        }
        prop_assert_eq!(left, 0);
    }
}

#[test]
fn a_mean_or_a_sum_of_decimals_and_doubles_has_the_digits_that_say_something() {
    let double = Bson::Double;
    for (values, total, mean) in [
        (vec![double(2.5), decimal("3.5")], "6.0", "3.0"),
        (vec![double(10.0), decimal("20")], "30", "15"),
        (vec![double(0.25), double(0.25), decimal("1")], "1.5", "0.5"),
        (
            vec![Bson::Int32(1), double(1.5), decimal("1.50")],
            "4.00",
            "1.333333333333333333333333333333333",
        ),
        (vec![double(0.0), decimal("1")], "1", "0.5"),
        (vec![Bson::Int64(3), decimal("1.0")], "4.0", "2.0"),
    ] {
        let text = |value: Bson| match value {
            Bson::Decimal128(value) => value.to_string(),
            other => panic!("a decimal: {other}"),
        };
        assert_eq!(text(sum(values.clone())), total, "{values:?}");
        assert_eq!(text(avg(values.clone())), mean, "{values:?}");
    }
}
