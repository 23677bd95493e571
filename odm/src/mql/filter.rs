//! Which documents are meant.

mod format;
mod matches;
mod parse;
mod pattern;
mod seed;

use std::borrow::Cow;

use bson::{Document, RawBson, RawBsonRef, RawDocument, spec::ElementType};

use crate::mql::Error;

pub use pattern::Pattern;

pub(super) use format::element_test;
pub(super) use parse::{element_tests, fields};

/// A condition on documents.
#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    /// All hold. An empty one matches every document.
    And(Vec<Filter>),
    /// At least one holds.
    Or(Vec<Filter>),
    /// None holds.
    Nor(Vec<Filter>),
    /// The values at a path pass a test.
    Path(Cow<'static, str>, Test),
}

/// A condition on the values at a path.
///
/// Where there is an array, a test is about its elements and about the array as a whole, unless it
/// says otherwise, and one that passes is enough. What denies is the opposite of the whole:
/// [`Ne`](Test::Ne) holds if no element is equal.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// Equal. Null equals what is missing.
    Eq(RawBson),
    /// Not [`Eq`](Test::Eq).
    Ne(RawBson),
    /// Greater, and of a type that compares.
    Gt(RawBson),
    /// Greater or equal, and of a type that compares. Null matches null and what is missing.
    Gte(RawBson),
    /// Less, and of a type that compares.
    Lt(RawBson),
    /// Less or equal, and of a type that compares. Null matches null and what is missing.
    Lte(RawBson),
    /// Equal to one of the values. A regular expression among them is a value like others; see
    /// [`Any`](Test::Any).
    In(Vec<RawBson>),
    /// Not [`In`](Test::In).
    Nin(Vec<RawBson>),
    /// At least one of the tests holds, each an [`In`](Test::In) or a [`Regex`](Test::Regex): what
    /// `$in` with regular expressions means.
    Any(Vec<Test>),
    /// Each of the tests holds, each an [`Eq`](Test::Eq), a [`Regex`](Test::Regex), an
    /// [`ElemMatch`](Test::ElemMatch) or an [`ElemTest`](Test::ElemTest). Without any, nothing
    /// passes.
    All(Vec<Test>),
    /// There is a value, or there is none.
    Exists(bool),
    /// Of one of these types.
    Type(Vec<ElementType>),
    /// An array of this length.
    Size(i64),
    /// An array with an element, a document or an array, that the filter matches.
    ElemMatch(Box<Filter>),
    /// An array with an element that passes all the tests.
    ElemTest(Vec<Test>),
    /// A string in which the pattern finds something, or a regular expression that is the same.
    Regex(Pattern),
    /// Not all of the tests hold.
    Not(Vec<Test>),
}

impl Default for Filter {
    fn default() -> Self {
        Filter::And(Vec::new())
    }
}

impl Filter {
    /// Reads a filter in MongoDB's form.
    pub fn parse(document: &Document) -> Result<Filter, Error> {
        parse::filter(document)
    }

    /// The filter in the form that [`parse`](Filter::parse) reads.
    pub fn to_document(&self) -> Document {
        format::filter(self)
    }

    /// Whether a document is meant. What cannot be read of it counts as absent.
    pub fn matches(&self, document: &RawDocument) -> bool {
        matches::filter(self, document)
    }

    /// Both hold.
    pub fn and(self, other: Filter) -> Filter {
        let mut all = match self {
            Filter::And(all) => all,
            one => vec![one],
        };
        match other {
            Filter::And(more) => all.extend(more),
            one => all.push(one),
        }
        match all.len() {
            1 => all.remove(0),
            _ => Filter::And(all),
        }
    }

    /// The paths that are tested, in order. Those inside of array elements are not among them.
    pub fn paths(&self) -> Vec<&str> {
        match self {
            Filter::And(all) | Filter::Or(all) | Filter::Nor(all) => {
                all.iter().flat_map(Filter::paths).collect()
            }
            Filter::Path(path, _) => vec![path.as_ref()],
        }
    }

    /// The same tests at other paths.
    pub fn with_paths(self, change: &dyn Fn(&str) -> Cow<'static, str>) -> Filter {
        let each = |all: Vec<Filter>| {
            let changed = all.into_iter().map(|one| one.with_paths(change));
            changed.collect()
        };
        match self {
            Filter::And(all) => Filter::And(each(all)),
            Filter::Or(any) => Filter::Or(each(any)),
            Filter::Nor(none) => Filter::Nor(each(none)),
            Filter::Path(path, test) => Filter::Path(change(&path), test),
        }
    }

    /// The document that an upsert starts from: the fields that the filter fixes by equality, `_id`
    /// first and the others in the order of their paths.
    pub fn upsert_seed(&self) -> Result<Document, Error> {
        seed::seed(self)
    }
}

impl Test {
    /// Whether a value passes the test as the value of a field would: where it is an array, by its
    /// elements or as a whole.
    pub fn matches(&self, value: Option<RawBsonRef<'_>>) -> bool {
        matches::value(self, value)
    }

    /// Whether a value is one of the elements that an [`ElemMatch`](Test::ElemMatch) or an
    /// [`ElemTest`](Test::ElemTest) is met by. No other test has such elements.
    pub fn matches_element(&self, element: RawBsonRef<'_>) -> bool {
        matches::element(self, element)
    }
}

#[cfg(test)]
mod tests;
