//! The positions for `$`.

use super::*;

fn position(filter: Document, document: Document) -> Option<usize> {
    parse(filter)
        .position(&raw(document))
        .expect("a cheap filter")
}

#[test]
fn a_position_is_that_of_the_first_element_that_matches() {
    let grades = || doc! { "_id": 1, "g": [80, 85, 90] };
    assert_eq!(position(doc! { "g": { "$gte": 85 } }, grades()), Some(1));
    assert_eq!(position(doc! { "_id": 1, "g": 90 }, grades()), Some(2));
    assert_eq!(
        position(doc! { "g": { "$in": [90, 85] } }, grades()),
        Some(1)
    );
    assert_eq!(
        position(
            doc! { "g": { "$elemMatch": { "$gt": 80, "$lt": 90 } } },
            grades()
        ),
        Some(1)
    );
    assert_eq!(
        position(doc! { "g": { "$all": [80, 90] } }, grades()),
        Some(2)
    );
    let many = doc! { "a": [{ "b": 1 }, { "b": [2, 3] }] };
    assert_eq!(position(doc! { "a.b": 3 }, many.clone()), Some(1));
    assert_eq!(
        position(doc! { "a": { "$elemMatch": { "b": 3 } } }, many),
        Some(1)
    );
}

#[test]
fn the_last_test_in_the_order_of_mongodb_decides() {
    let document = || doc! { "a": [1, 2, 3], "b": [3, 2, 1] };
    assert_eq!(position(doc! { "b": 3, "a": 2 }, document()), Some(0));
    assert_eq!(
        position(doc! { "a": { "$gt": 1, "$lt": 3 } }, document()),
        Some(1)
    );
    assert_eq!(
        position(doc! { "$or": [{ "a": 9 }, { "a": 3 }] }, document()),
        Some(2)
    );
}

#[test]
fn what_matches_by_no_element_has_no_position() {
    let document = || doc! { "_id": 1, "a": [1, 2, 3] };
    for filter in [
        doc! {},
        doc! { "_id": 1 },
        doc! { "a": [1, 2, 3] },
        doc! { "a.0": 1 },
        doc! { "a": { "$size": 3 } },
        doc! { "a": { "$ne": 7 } },
        doc! { "a": { "$not": { "$gt": 5 } } },
        doc! { "$nor": [{ "a": 7 }] },
        doc! { "$or": [{ "a": 1 }, { "_id": 1 }] },
        doc! { "a": 9 },
    ] {
        assert_eq!(position(filter.clone(), document()), None, "{filter}");
    }
}
