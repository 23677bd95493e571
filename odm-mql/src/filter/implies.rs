//! Which tests follow from others.

use bson::{RawBson, RawBsonRef};
use odm_pattern::Steps;

use super::{Test, matches::Matcher};
use crate::{
    expr::Work,
    order::{compare, is_nan, same_type_bracket},
};

impl Test {
    /// Whether every value that passes this test is known to pass the other, by equality, ranges, types and existence alone. A document
    /// that passes this test at a path then passes the other test at that path, by the same element of an array.
    #[doc(hidden)]
    pub fn implies(&self, other: &Test) -> bool {
        match (self, other) {
            (one, other) if one == other => true,
            (Test::Eq(value), _) => is_scalar(value) && is_passed_by(other, value),
            (Test::In(values), _) => values
                .iter()
                .all(|value| is_scalar(value) && is_passed_by(other, value)),
            (Test::Any(tests), _) => tests.iter().all(|test| test.implies(other)),
            (Test::Gt(a), Test::Gt(b) | Test::Gte(b)) | (Test::Gte(a), Test::Gte(b)) => {
                are_comparable(a, b) && order(a, b).is_ge()
            }
            (Test::Gte(a), Test::Gt(b)) => are_comparable(a, b) && order(a, b).is_gt(),
            (Test::Lt(a), Test::Lt(b) | Test::Lte(b)) | (Test::Lte(a), Test::Lte(b)) => {
                are_comparable(a, b) && order(a, b).is_le()
            }
            (Test::Lte(a), Test::Lt(b)) => are_comparable(a, b) && order(a, b).is_lt(),
            // A missing value passes a range only if it ends at null, or at an end of the order.
            (
                Test::Gt(value) | Test::Gte(value) | Test::Lt(value) | Test::Lte(value),
                Test::Exists(true),
            ) => is_scalar(value),
            (Test::Regex(_) | Test::Type(_), Test::Exists(true)) => true,
            (Test::Type(types), Test::Type(others)) => {
                types.iter().all(|of_type| others.contains(of_type))
            }
            _ => false,
        }
    }
}

/// Whether all values that equal this one pass a test. The type of such a value is unknown.
fn is_passed_by(test: &Test, value: &RawBson) -> bool {
    let is_known = matches!(
        test,
        Test::Eq(_)
            | Test::In(_)
            | Test::Gt(_)
            | Test::Gte(_)
            | Test::Lt(_)
            | Test::Lte(_)
            | Test::Exists(true)
    );
    is_known
        && Matcher::new(&Work::new(&Steps::default())).passes(test, Some(value.as_raw_bson_ref()))
}

/// Whether a value is compared as a whole and does not equal a missing value.
#[doc(hidden)]
pub fn is_scalar(value: &RawBson) -> bool {
    match value.as_raw_bson_ref() {
        value @ (RawBsonRef::Double(_) | RawBsonRef::Decimal128(_)) => !is_nan(value),
        RawBsonRef::Int32(_)
        | RawBsonRef::Int64(_)
        | RawBsonRef::String(_)
        | RawBsonRef::Boolean(_)
        | RawBsonRef::DateTime(_)
        | RawBsonRef::ObjectId(_)
        | RawBsonRef::Binary(_) => true,
        _ => false,
    }
}

fn are_comparable(a: &RawBson, b: &RawBson) -> bool {
    is_scalar(a) && is_scalar(b) && same_type_bracket(a.as_raw_bson_ref(), b.as_raw_bson_ref())
}

fn order(a: &RawBson, b: &RawBson) -> std::cmp::Ordering {
    compare(a.as_raw_bson_ref(), b.as_raw_bson_ref())
}

#[cfg(test)]
mod tests {
    use bson::{Bson, Document, doc};
    use proptest::prelude::*;

    use crate::Filter;

    fn value() -> impl Strategy<Value = Bson> {
        prop_oneof![
            6 => (0..4i32).prop_map(Bson::Int32),
            2 => prop_oneof![Just(1.0), Just(1.5), Just(f64::NAN), Just(-0.0)].prop_map(Bson::Double),
            1 => (0..3i64).prop_map(Bson::Int64),
            1 => Just(Bson::Decimal128("2".parse().expect("a decimal"))),
            3 => prop_oneof!["a", "ab", "b"].prop_map(Bson::String),
            1 => prop_oneof!["a", "b"].prop_map(Bson::Symbol),
            2 => Just(Bson::Null),
            1 => any::<bool>().prop_map(Bson::Boolean),
            1 => prop_oneof![Just(Bson::Undefined), Just(Bson::MinKey), Just(Bson::MaxKey)],
            1 => Just(Bson::Document(doc! { "x": 1 })),
            1 => prop::collection::vec((0..4i32).prop_map(Bson::Int32), 0..3).prop_map(Bson::Array),
        ]
    }

    fn regex() -> Bson {
        Bson::RegularExpression(bson::Regex {
            pattern: "^a".try_into().expect("no NUL"),
            options: "".try_into().expect("no NUL"),
        })
    }

    fn test() -> impl Strategy<Value = Document> {
        let types = prop::collection::vec(
            prop_oneof![Just("string"), Just("symbol"), Just("int"), Just("null")],
            1..3,
        );
        prop_oneof![
            3 => value().prop_map(|v| doc! { "$eq": v }),
            2 => value().prop_map(|v| doc! { "$gt": v }),
            2 => value().prop_map(|v| doc! { "$gte": v }),
            2 => value().prop_map(|v| doc! { "$lt": v }),
            2 => value().prop_map(|v| doc! { "$lte": v }),
            2 => prop::collection::vec(value(), 0..3).prop_map(|v| doc! { "$in": v }),
            2 => prop::collection::vec(value(), 0..3).prop_map(|mut values| {
                values.push(regex());
                doc! { "$in": values }
            }),
            1 => value().prop_map(|v| doc! { "$ne": v }),
            2 => any::<bool>().prop_map(|v| doc! { "$exists": v }),
            1 => types.prop_map(|v| doc! { "$type": v }),
            1 => Just(doc! { "$regex": "^a" }),
        ]
    }

    fn document() -> impl Strategy<Value = Document> {
        let one = || value().prop_map(|v| doc! { "a": v });
        let array =
            prop::collection::vec(prop_oneof![value(), one().prop_map(Bson::Document)], 0..3);
        prop_oneof![
            1 => Just(Document::new()),
            5 => value().prop_map(|v| doc! { "a": v }),
            2 => array.clone().prop_map(|v| doc! { "a": v }),
            2 => one().prop_map(|v| doc! { "a": v }),
            1 => array.prop_map(|v| doc! { "a": { "a": v } }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_document_that_passes_a_test_passes_what_the_test_implies(
            one in test(),
            other in test(),
            documents in prop::collection::vec(document(), 1..20),
            path in prop_oneof![Just("a"), Just("a.a"), Just("a.0")],
        ) {
            let parse = |test| Filter::parse(&doc! { path: test });
            let (Ok(one), Ok(other)) = (parse(one), parse(other)) else {
                return Ok(());
            };
            let (Filter::Path(_, test), Filter::Path(_, implied)) = (&one, &other) else {
                return Ok(());
            };
            if test.implies(implied) {
                for document in documents {
                    let document = bson::RawDocumentBuf::try_from(&document).expect("a document");
                    let matches = |filter: &Filter| filter.matches(&document).expect("a match");
                    prop_assert!(!matches(&one) || matches(&other), "{one:?} {other:?} {document:?}");
                }
            }
        }
    }

    #[test]
    fn equality_and_ranges_imply_ranges_around_them() {
        let test = |test: Document| match Filter::parse(&doc! { "a": test }) {
            Ok(Filter::Path(_, test)) => test,
            other => panic!("one test: {other:?}"),
        };
        for (one, other, implies) in [
            (doc! { "$eq": 5 }, doc! { "$eq": 5.0 }, true),
            (doc! { "$eq": 5 }, doc! { "$gt": 4 }, true),
            (doc! { "$eq": 5 }, doc! { "$gt": 5 }, false),
            (doc! { "$eq": 5 }, doc! { "$lt": "a" }, false),
            (doc! { "$eq": null }, doc! { "$eq": null }, true),
            (doc! { "$eq": null }, doc! { "$exists": true }, false),
            (doc! { "$eq": 5 }, doc! { "$exists": true }, true),
            (doc! { "$in": [5, 6] }, doc! { "$gte": 5 }, true),
            (doc! { "$in": [5, 4] }, doc! { "$gte": 5 }, false),
            (doc! { "$in": [5, regex()] }, doc! { "$exists": true }, true),
            (
                doc! { "$in": [null, regex()] },
                doc! { "$exists": true },
                false,
            ),
            (doc! { "$gte": 5 }, doc! { "$gt": 5 }, false),
            (doc! { "$gt": 5 }, doc! { "$gte": 5 }, true),
            (doc! { "$gt": 6 }, doc! { "$gt": 5 }, true),
            (doc! { "$lt": 5 }, doc! { "$lte": 5 }, true),
            (doc! { "$lte": 5 }, doc! { "$lt": 5 }, false),
            (doc! { "$lte": 4 }, doc! { "$lt": 5 }, true),
            (doc! { "$lt": 6 }, doc! { "$lt": 5 }, false),
            (doc! { "$gte": "a" }, doc! { "$exists": true }, true),
            (
                doc! { "$type": "int" },
                doc! { "$type": ["int", "string"] },
                true,
            ),
            (
                doc! { "$type": ["int", "string"] },
                doc! { "$type": "int" },
                false,
            ),
            (doc! { "$ne": 5 }, doc! { "$exists": true }, false),
        ] {
            assert_eq!(
                test(one.clone()).implies(&test(other.clone())),
                implies,
                "{one} {other}"
            );
        }
    }
}
