//! Tests of null on dotted paths, with the meaning before MongoDB 9.0 and in `odm-mql`.
//!
//! From 9.0 on `{ "a.b": null }` also matches if `a` is an empty array, or has a scalar or an array as an element (Compatibility Changes in
//! MongoDB 9.0, Null Comparisons on Dotted Paths That Traverse Arrays). There such a test goes to the server as a `$jsonSchema`, which does
//! not traverse arrays by itself, so that it means the same on each version.

use bson::{Document, RawBson, RawDocumentBuf, doc};
use odm_mql::{Filter, Schema, Test};

/// A filter with the same meaning in all versions.
pub(super) fn portable(filter: &Filter) -> Filter {
    let all = |filters: &[Filter]| filters.iter().map(portable).collect();
    match filter {
        Filter::And(filters) => Filter::And(all(filters)),
        Filter::Or(filters) => Filter::Or(all(filters)),
        Filter::Nor(filters) => Filter::Nor(all(filters)),
        Filter::Path(path, test) if is_changed(path) => of_test(path, test),
        Filter::Path(..) | Filter::Expr(_) | Filter::Schema(_) => filter.clone(),
        Filter::Collated(collation, inner) => portable(inner).collated(Some(collation)),
    }
}

/// Whether a partial index by the filter would have other documents: an index does not accept `$jsonSchema`.
pub(super) fn is_other_index(filter: &Filter) -> bool {
    portable(filter) != *filter
}

/// Whether a path can lead through an array. A path with a position keeps the server's meaning.
fn is_changed(path: &str) -> bool {
    let is_position = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    path.contains('.') && !path.split('.').any(is_position)
}

fn of_test(path: &str, test: &Test) -> Filter {
    let own = |test: Test| Filter::Path(path.to_owned().into(), test);
    let of_tests = |tests: &[Test]| tests.iter().map(|test| of_test(path, test)).collect();
    match test {
        Test::Eq(RawBson::Null) | Test::Gte(RawBson::Null) | Test::Lte(RawBson::Null) => {
            is_null(path)
        }
        Test::Ne(RawBson::Null) => Filter::Nor(vec![is_null(path)]),
        Test::In(values) if values.contains(&RawBson::Null) => {
            let others = values.iter().filter(|value| **value != RawBson::Null);
            let others: Vec<RawBson> = others.cloned().collect();
            Filter::Or(vec![own(Test::In(others.into())), is_null(path)])
        }
        Test::Nin(values) if values.contains(&RawBson::Null) => {
            Filter::Nor(vec![of_test(path, &Test::In(values.clone()))])
        }
        Test::Not(tests) if tests.iter().any(tests_null) => {
            Filter::Nor(vec![Filter::And(of_tests(tests))])
        }
        Test::Any(tests) if tests.iter().any(tests_null) => Filter::Or(of_tests(tests)),
        Test::All(tests) if tests.iter().any(tests_null) => Filter::And(of_tests(tests)),
        test => own(test.clone()),
    }
}

fn tests_null(test: &Test) -> bool {
    match test {
        Test::Eq(value) | Test::Ne(value) | Test::Gte(value) | Test::Lte(value) => {
            *value == RawBson::Null
        }
        Test::In(values) | Test::Nin(values) => values.contains(&RawBson::Null),
        Test::Not(tests) | Test::Any(tests) | Test::All(tests) => tests.iter().any(tests_null),
        _ => false,
    }
}

/// A document with null at a path, or no value.
fn is_null(path: &str) -> Filter {
    let parts: Vec<&str> = path.split('.').collect();
    // If a path is deeper than a schema may be, the test has the server's meaning.
    let schema = RawDocumentBuf::try_from(&in_object(&parts));
    match schema.map(|schema| Schema::parse(&schema)) {
        Ok(Ok(schema)) => Filter::Schema(schema),
        _ => Filter::Path(path.to_owned().into(), Test::Eq(RawBson::Null)),
    }
}

/// The schema of an object that has null at a path, or no value.
fn in_object(parts: &[&str]) -> Document {
    match parts {
        [] => Document::new(),
        [first, rest @ ..] => {
            let first = *first;
            doc! { "properties": { first: at_rest(rest) } }
        }
    }
}

/// The schema of a value that has null at the rest of a path, or no value.
fn at_rest(rest: &[&str]) -> Document {
    if rest.is_empty() {
        let own = doc! { "bsonType": "null" };
        let element = has_element(&own);
        return doc! { "anyOf": [own, element] };
    }
    let mut object = doc! { "bsonType": "object" };
    object.extend(in_object(rest));
    let is_scalar = doc! { "not": { "bsonType": ["object", "array"] } };
    let element = has_element(&object);
    doc! { "anyOf": [object, element, is_scalar] }
}

/// The schema of an array with an element that conforms to one.
fn has_element(schema: &Document) -> Document {
    doc! { "bsonType": "array", "not": { "items": { "not": schema } } }
}

#[cfg(test)]
mod tests {
    use bson::{Bson, rawdoc};

    use super::*;

    /// Values of all shapes, with objects nested so deep.
    fn values(depth: usize) -> Vec<Option<Bson>> {
        let mut found: Vec<Option<Bson>> = vec![
            None,
            Some(Bson::Null),
            Some(1.into()),
            Some(Bson::Array(vec![])),
            Some(Bson::Array(vec![Bson::Null])),
            Some(Bson::Array(vec![1.into()])),
            Some(Bson::Array(vec![Bson::Array(vec![Bson::Null])])),
        ];
        if depth > 0 {
            let objects = values(depth - 1).into_iter().map(|value| {
                let name = if depth > 1 { "b" } else { "c" };
                value.map_or(doc! {}, |value| doc! { name: value })
            });
            for object in objects.collect::<Vec<_>>() {
                found.push(Some(object.clone().into()));
                found.push(Some(Bson::Array(vec![object.clone().into()])));
                found.push(Some(Bson::Array(vec![1.into(), object.clone().into()])));
                found.push(Some(Bson::Array(vec![Bson::Array(vec![object.into()])])));
            }
        }
        found
    }

    #[test]
    fn a_portable_filter_matches_the_same_documents() {
        let filters = ["a.b", "a.b.c"].into_iter().flat_map(|path| {
            [
                doc! { path: null },
                doc! { path: { "$ne": null } },
                doc! { path: { "$gte": null } },
                doc! { path: { "$in": [1, null] } },
                doc! { path: { "$nin": [1, null] } },
                doc! { path: { "$not": { "$eq": null, "$exists": true } } },
                doc! { path: { "$all": [null, 1] } },
                doc! { "$or": [{ path: null }, { "x": 1 }], path: { "$exists": true } },
                doc! { "$nor": [{ path: { "$lte": null } }] },
            ]
        });
        let documents: Vec<RawDocumentBuf> = values(2)
            .into_iter()
            .map(|value| value.map_or(doc! {}, |value| doc! { "a": value }))
            .map(|document| RawDocumentBuf::try_from(&document).unwrap())
            .collect();
        assert!(documents.len() > 100, "{}", documents.len());
        for filter in filters {
            let filter = Filter::parse(&filter).unwrap();
            let portable = portable(&filter);
            assert_ne!(portable, filter);
            // As the server reads it.
            let portable = Filter::parse(&portable.to_document()).unwrap();
            for document in &documents {
                let expected = filter.matches(document).unwrap();
                let found = portable.matches(document).unwrap();
                assert_eq!(found, expected, "{filter:?} of {document:?}");
            }
        }
    }

    #[test]
    fn a_filter_without_a_test_of_null_through_a_path_stays_as_it_is() {
        for filter in [
            doc! { "a": null },
            doc! { "a.b": 1, "c.d": { "$in": [1, 2] } },
            doc! { "a.0": null },
            doc! { "a.b": { "$exists": false } },
            doc! { "$or": [{ "a": null }, { "a.b": { "$gt": 1 } }] },
        ] {
            let filter = Filter::parse(&filter).unwrap();
            assert_eq!(portable(&filter), filter);
            assert!(!is_other_index(&filter));
        }
        let filter = Filter::parse(&doc! { "a.b": null }).unwrap();
        assert!(is_other_index(&filter));
        assert!(portable(&filter).matches(&rawdoc! { "a": 1 }).unwrap());
    }
}
