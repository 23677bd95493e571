//! The matching of documents.

use std::{cell::OnceCell, collections::HashSet};

use bson::{RawArray, RawBson, RawBsonRef, RawDocument};

use super::{Filter, Test, Values, bits, pattern};
use crate::{
    Collation, Error,
    expr::Work,
    key, number,
    order::{compare_by, equal_by, is_nan, same_type_bracket},
    path::{Leaf, visit},
    steps,
};

/// A match in progress, with the first error that it met.
pub(super) struct Matcher<'s> {
    failure: OnceCell<Error>,
    /// The work that is left for the document.
    work: &'s Work<'s>,
    /// By which texts are compared.
    collation: Option<&'s Collation>,
}

impl<'s> Matcher<'s> {
    pub(super) fn new(work: &'s Work<'s>) -> Self {
        Matcher {
            failure: OnceCell::new(),
            work,
            collation: None,
        }
    }

    /// The same with a collation.
    pub(super) fn collated(self, collation: Option<&'s Collation>) -> Self {
        Matcher { collation, ..self }
    }

    /// Another match with the same work, and with a collation.
    pub(super) fn like<'m>(&'m self, collation: Option<&'m Collation>) -> Matcher<'m> {
        Matcher::new(self.work).collated(collation)
    }

    /// The answer, unless an error was met.
    pub(super) fn finish(self, matches: bool) -> Result<bool, Error> {
        match self.failure.into_inner() {
            None => Ok(matches),
            Some(error) => Err(error),
        }
    }

    pub(super) fn filter(&self, filter: &Filter, document: &RawDocument) -> bool {
        steps::step();
        match filter {
            Filter::And(all) => all.iter().all(|one| self.filter(one, document)),
            Filter::Or(any) => any.iter().any(|one| self.filter(one, document)),
            Filter::Nor(none) => !none.iter().any(|one| self.filter(one, document)),
            Filter::Path(path, test) => self.test(test, &FieldSource { document, path }),
            Filter::Expr(expr) => self.ok(expr.holds_by(self.collation, document, self.work)),
            Filter::Schema(schema) => {
                self.ok(schema.matches_within(document, self.work.patterns()))
            }
            Filter::Collated(collation, filter) => {
                let inner = self.like(Some(collation));
                let matches = inner.filter(filter, document);
                self.ok(inner.finish(matches))
            }
        }
    }

    pub(super) fn value(&self, test: &Test, value: Option<RawBsonRef<'_>>) -> bool {
        self.test(test, &Value(value))
    }

    pub(super) fn element(&self, test: &Test, element: RawBsonRef<'_>) -> bool {
        match test {
            Test::ElemMatch(filter) => fields(element).is_some_and(|it| self.filter(filter, it)),
            Test::ElemTest(tests) => tests
                .iter()
                .all(|test| self.test(test, &ElementSource(element))),
            _ => false,
        }
    }

    /// The result of a part that can fail. After an error the whole match has no answer.
    fn ok(&self, result: Result<bool, Error>) -> bool {
        result.unwrap_or_else(|error| {
            // Only the first error is reported.
            let _ = self.failure.set(error);
            false
        })
    }

    fn test<S: ValueSource>(&self, test: &Test, source: &S) -> bool {
        steps::step();
        match test {
            Test::Ne(operand) => !source.any(Leaf::Elements, |value| self.equals(value, operand)),
            Test::Nin(operands) => {
                !source.any(Leaf::Elements, |value| self.is_one_of(value, operands))
            }
            Test::Any(tests) => tests.iter().any(|one| self.test(one, source)),
            Test::All(tests) => self.all(tests, source),
            Test::Exists(exists) => source.any(Leaf::Elements, |value| value.is_some()) == *exists,
            Test::Size(size) => arrays(source, |array| {
                i64::try_from(array.into_iter().flatten().count()) == Ok(*size)
            }),
            Test::ElemMatch(_) | Test::ElemTest(_) => arrays(source, |array| {
                array.into_iter().flatten().any(|it| self.element(test, it))
            }),
            Test::Not(tests) => !tests.iter().all(|one| self.test(one, source)),
            test => source.any(Leaf::Elements, |value| self.passes(test, value)),
        }
    }

    /// Whether the source passes all tests, and there is one. Many values are looked up together, since a search for each value of a long
    /// list in a long array would take too long.
    fn all<S: ValueSource>(&self, tests: &[Test], source: &S) -> bool {
        const FEW: usize = 8;
        let key = |test: &Test| match test {
            Test::Eq(value) => Some(key::of_by(self.collation, value.as_raw_bson_ref())),
            _ => None,
        };
        let Some((first, rest)) = tests.split_first() else {
            return false;
        };
        if !self.test(first, source) {
            return false;
        }
        if rest.len() > FEW
            && let Some(mut missing) = rest.iter().map(key).collect::<Option<HashSet<_>>>()
        {
            return source.any(Leaf::Elements, |value| {
                let value = value.unwrap_or(RawBsonRef::Null);
                missing.remove(&key::of_by(self.collation, value));
                missing.is_empty()
            });
        }
        rest.iter().all(|one| self.test(one, source))
    }

    /// Whether one value passes a test of single values.
    pub(super) fn passes(&self, test: &Test, value: Option<RawBsonRef<'_>>) -> bool {
        match test {
            Test::Eq(operand) => self.equals(value, operand),
            Test::Gt(operand) => self.compares(value, operand, |order| order.is_gt(), Side::After),
            Test::Gte(operand) => self.compares(value, operand, |order| order.is_ge(), Side::After),
            Test::Lt(operand) => self.compares(value, operand, |order| order.is_lt(), Side::Before),
            Test::Lte(operand) => {
                self.compares(value, operand, |order| order.is_le(), Side::Before)
            }
            Test::In(operands) => self.is_one_of(value, operands),
            Test::Type(types) => value.is_some_and(|value| types.contains(&value.element_type())),
            Test::Mod { divisor, remainder } => {
                let number = value.and_then(number::truncated);
                number.is_some_and(|number| number.checked_rem(*divisor).unwrap_or(0) == *remainder)
            }
            Test::Bits(bits, positions) => {
                value.is_some_and(|value| bits::pass(*bits, positions, value))
            }
            Test::Regex(pattern) => value.is_some_and(|value| {
                self.ok(pattern::matches(pattern, value, self.work.patterns()))
            }),
            Test::Exists(exists) => value.is_some() == *exists,
            // These are tests of all values together.
            Test::Ne(_)
            | Test::Nin(_)
            | Test::Any(_)
            | Test::All(_)
            | Test::Size(_)
            | Test::ElemMatch(_)
            | Test::ElemTest(_)
            | Test::Not(_) => false,
        }
    }

    fn equals(&self, value: Option<RawBsonRef<'_>>, operand: &RawBson) -> bool {
        match value {
            Some(value) => equal_by(self.collation, value, operand.as_raw_bson_ref()),
            None => matches!(operand, RawBson::Null),
        }
    }

    fn is_one_of(&self, value: Option<RawBsonRef<'_>>, operands: &Values) -> bool {
        operands.has_by(self.collation, value.unwrap_or(RawBsonRef::Null))
    }

    fn compares(
        &self,
        value: Option<RawBsonRef<'_>>,
        operand: &RawBson,
        holds: impl Fn(std::cmp::Ordering) -> bool,
        side: Side,
    ) -> bool {
        let operand = operand.as_raw_bson_ref();
        let compare = |value| compare_by(self.collation, value, operand);
        match (value, operand) {
            (None, RawBsonRef::Null) => holds(std::cmp::Ordering::Equal),
            // The ends of the order compare with values of all types, and with missing values.
            (None, RawBsonRef::MinKey) => side == Side::After,
            (None, RawBsonRef::MaxKey) => side == Side::Before,
            (None, _) => false,
            (Some(value), RawBsonRef::MinKey | RawBsonRef::MaxKey) => holds(compare(value)),
            (Some(value), operand) => {
                same_type_bracket(value, operand)
                    && match (is_nan(value), is_nan(operand)) {
                        (false, false) => holds(compare(value)),
                        // NaN is neither less nor greater than anything, only equal to itself.
                        (true, true) => holds(std::cmp::Ordering::Equal),
                        _ => false,
                    }
            }
        }
    }
}

/// A source of the values that a test examines.
trait ValueSource {
    /// Whether one of the values passes. A missing value is `None`.
    fn any(&self, leaf: Leaf, passes: impl FnMut(Option<RawBsonRef<'_>>) -> bool) -> bool;
}

/// A field of a document.
struct FieldSource<'a> {
    document: &'a RawDocument,
    path: &'a str,
}

/// A value in place of a field.
struct Value<'a>(Option<RawBsonRef<'a>>);

/// An element of an array, which is not opened if it is an array itself.
struct ElementSource<'a>(RawBsonRef<'a>);

impl ValueSource for FieldSource<'_> {
    fn any(&self, leaf: Leaf, mut passes: impl FnMut(Option<RawBsonRef<'_>>) -> bool) -> bool {
        visit(self.document, self.path, leaf, &mut passes)
    }
}

impl ValueSource for Value<'_> {
    fn any(&self, leaf: Leaf, mut passes: impl FnMut(Option<RawBsonRef<'_>>) -> bool) -> bool {
        if let (Leaf::Elements, Some(RawBsonRef::Array(array))) = (leaf, self.0)
            && array
                .into_iter()
                .flatten()
                .any(|element| passes(Some(element)))
        {
            return true;
        }
        passes(self.0)
    }
}

impl ValueSource for ElementSource<'_> {
    fn any(&self, _: Leaf, mut passes: impl FnMut(Option<RawBsonRef<'_>>) -> bool) -> bool {
        passes(Some(self.0))
    }
}

fn arrays<S: ValueSource>(source: &S, mut passes: impl FnMut(&RawArray) -> bool) -> bool {
    source.any(Leaf::Whole, |value| match value {
        Some(RawBsonRef::Array(array)) => passes(array),
        _ => false,
    })
}

/// The fields of a document, or of an array, whose names are the positions.
fn fields(value: RawBsonRef<'_>) -> Option<&RawDocument> {
    match value {
        RawBsonRef::Document(document) => Some(document),
        RawBsonRef::Array(array) => RawDocument::from_bytes(array.as_bytes()).ok(),
        _ => None,
    }
}

/// The side of the operand on which the values of a comparison are.
#[derive(PartialEq)]
enum Side {
    Before,
    After,
}
