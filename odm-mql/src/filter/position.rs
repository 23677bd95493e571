//! The position of the element by which a document matches, for `$`.

use bson::{RawBsonRef, RawDocument};

use super::{Filter, Test, matches::Matcher};
use crate::{
    Collation,
    path::{Leaf, visit_at},
};

/// The position in the first array on the path of the last examined test that passed by an element. MongoDB examines the tests of a
/// conjunction in an order of its own.
pub(super) fn of_filter(
    matcher: &Matcher<'_>,
    filter: &Filter,
    document: &RawDocument,
) -> Option<usize> {
    let mut tests = Vec::new();
    collect(filter, None, &mut tests);
    tests.sort_by_key(|(path, test, _)| (rank(test), *path));
    let mut positions = tests.iter().rev();
    positions.find_map(|(path, test, collation)| {
        of_test(&matcher.like(*collation), test, document, path)
    })
}

/// The tests that are examined for their position: the tests of a conjunction, and a disjunction of equalities of one field, which means
/// `$in`.
fn collect<'f>(
    filter: &'f Filter,
    collation: Option<&'f Collation>,
    tests: &mut Vec<(&'f str, PositionTest<'f>, Option<&'f Collation>)>,
) {
    match filter {
        Filter::And(all) => all.iter().for_each(|one| collect(one, collation, tests)),
        Filter::Collated(collation, inner) => collect(inner, Some(collation), tests),
        Filter::Or(any) => {
            let mut path = None;
            let mut one_of = Vec::new();
            for one in any {
                let Filter::Path(own, test @ (Test::Eq(_) | Test::In(_))) = one else {
                    return;
                };
                if path.is_some_and(|path| path != own) {
                    return;
                }
                path = Some(own);
                one_of.push(test);
            }
            if let Some(path) = path {
                tests.push((path, PositionTest::Any(one_of), collation));
            }
        }
        Filter::Path(path, Test::All(all)) => {
            tests.extend(
                all.iter()
                    .map(|test| (path.as_ref(), PositionTest::One(test), collation)),
            );
        }
        Filter::Path(path, Test::Any(any)) => {
            tests.push((path, PositionTest::Any(any.iter().collect()), collation));
        }
        Filter::Path(path, test) => tests.push((path, PositionTest::One(test), collation)),
        Filter::Nor(_) | Filter::Expr(_) | Filter::Schema(_) => {}
    }
}

enum PositionTest<'f> {
    One(&'f Test),
    /// A value passes one of the tests.
    Any(Vec<&'f Test>),
}

/// The place of a test in MongoDB's order of the tests of a conjunction.
fn rank(test: &PositionTest<'_>) -> u8 {
    let PositionTest::One(test) = test else {
        return 9;
    };
    match test {
        Test::ElemMatch(_) => 0,
        Test::ElemTest(_) => 1,
        Test::Eq(_) => 2,
        Test::Lte(_) => 3,
        Test::Lt(_) => 4,
        Test::Gt(_) => 5,
        Test::Gte(_) => 6,
        Test::Regex(_) => 7,
        Test::Mod { .. } => 8,
        Test::Exists(_) | Test::In(_) => 9,
        _ => 10,
    }
}

fn of_test(
    matcher: &Matcher<'_>,
    test: &PositionTest<'_>,
    document: &RawDocument,
    path: &str,
) -> Option<usize> {
    let mut position = None;
    let leaf = match test {
        PositionTest::One(Test::ElemMatch(_) | Test::ElemTest(_)) => Leaf::Whole,
        _ => Leaf::Elements,
    };
    let is_found = visit_at(document, path, leaf, &mut |value, outer| {
        let mut passes = |test: &Test| match test {
            // These do not pass by an element.
            Test::Ne(_) | Test::Nin(_) | Test::Not(_) | Test::Size(_) => false,
            Test::ElemMatch(_) | Test::ElemTest(_) => {
                let Some(RawBsonRef::Array(array)) = value else {
                    return false;
                };
                let mut elements = array.into_iter().flatten();
                let found = elements.position(|element| matcher.element(test, element));
                position = outer.or(found);
                found.is_some()
            }
            test => {
                position = outer;
                matcher.passes(test, value)
            }
        };
        match test {
            PositionTest::One(test) => passes(test),
            PositionTest::Any(tests) => tests.iter().any(|test| passes(test)),
        }
    });
    position.filter(|_| is_found)
}
