//! Filters: conditions on documents.

mod bits;
mod format;
mod implies;
mod matches;
mod parse;
mod pattern;
mod position;
mod seed;
mod shape;
mod values;

use std::borrow::Cow;

use bson::{Document, RawBson, RawBsonRef, RawDocument, spec::ElementType};
use odm_pattern::Steps;

use self::matches::Matcher;
use crate::{
    Collation, Error, Expr, Schema, Variables,
    expr::Work,
    types::{MAX_NESTING, bad},
    variables::Substitution,
};

pub use bits::Bits;
pub use implies::is_scalar;
pub use odm_pattern::Pattern;
pub use odm_pattern::{FoldedText, escape};
pub(super) use pattern::is_match;
pub use values::Values;

pub(super) use format::element_test;
pub(super) use parse::{FilterScope, element_tests, fields, filter as parse_in};

/// A condition on documents.
#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    /// All filters match. An empty list matches every document.
    And(Vec<Filter>),
    /// At least one filter matches.
    Or(Vec<Filter>),
    /// No filter matches.
    Nor(Vec<Filter>),
    /// A test on the values at a path.
    Path(Cow<'static, str>, Test),
    /// The value of an expression on the document counts as true.
    Expr(Expr),
    /// The document conforms to the schema.
    Schema(Schema),
    /// The filter matches, with all its texts compared by a collation.
    Collated(Collation, Box<Filter>),
}

impl Filter {
    /// The filter with other paths, or `None` if it contains an expression or a schema, which are about whole documents.
    #[doc(hidden)]
    pub fn moved_to(self, path: &impl Fn(&str) -> Cow<'static, str>) -> Option<Self> {
        let all = |filters: Vec<Filter>| {
            let filters = filters.into_iter().map(|filter| filter.moved_to(path));
            filters.collect::<Option<Vec<Filter>>>()
        };
        Some(match self {
            Filter::And(filters) => Filter::And(all(filters)?),
            Filter::Or(filters) => Filter::Or(all(filters)?),
            Filter::Nor(filters) => Filter::Nor(all(filters)?),
            Filter::Path(inner, test) => Filter::Path(path(&inner), test),
            Filter::Expr(_) | Filter::Schema(_) => return None,
            Filter::Collated(collation, inner) => {
                Filter::Collated(collation, Box::new(inner.moved_to(path)?))
            }
        })
    }
}

/// A condition on the values at a path.
///
/// A test of an array examines its elements and the array as a whole, unless the test says otherwise,
/// and passes if one of them does. A negated test is the negation of the whole test:
/// [`Ne`](Test::Ne) passes if no element is equal.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// Equal to the value. Null equals a missing value.
    Eq(RawBson),
    /// The negation of [`Eq`](Test::Eq).
    Ne(RawBson),
    /// Greater than the value, and of a comparable type.
    Gt(RawBson),
    /// Greater than the value or equal, and of a comparable type. Null matches null and missing values.
    Gte(RawBson),
    /// Less than the value, and of a comparable type.
    Lt(RawBson),
    /// Less than the value or equal, and of a comparable type. Null matches null and missing values.
    Lte(RawBson),
    /// Equal to one of the values. A regular expression among them is compared as a value; see
    /// [`Any`](Test::Any).
    In(Values),
    /// The negation of [`In`](Test::In).
    Nin(Values),
    /// At least one of the tests passes, each an [`In`](Test::In) or a [`Regex`](Test::Regex): the
    /// meaning of `$in` with regular expressions.
    Any(Vec<Test>),
    /// All of the tests pass, each an [`Eq`](Test::Eq), a [`Regex`](Test::Regex), an
    /// [`ElemMatch`](Test::ElemMatch) or an [`ElemTest`](Test::ElemTest). No value passes an empty
    /// list.
    All(Vec<Test>),
    /// Whether there is a value.
    Exists(bool),
    /// A value of one of these types.
    Type(Vec<ElementType>),
    /// An array of this length.
    Size(i64),
    /// A number whose whole part, divided by this divisor, leaves this remainder, of the sign of the
    /// number. The divisor is not 0.
    Mod {
        /// The divisor.
        divisor: i64,
        /// The remainder.
        remainder: i64,
    },
    /// A whole number, or binary data, whose bits at these positions pass. The lowest bit is 0.
    Bits(Bits, Vec<u32>),
    /// An array with an element that the filter matches. The element is a document or an array.
    ElemMatch(Box<Filter>),
    /// An array with an element that passes all tests.
    ElemTest(Vec<Test>),
    /// A string that the pattern matches, or an equal regular expression.
    Regex(Pattern),
    /// The negation of all tests together.
    Not(Vec<Test>),
}

impl Default for Filter {
    fn default() -> Self {
        Filter::And(Vec::new())
    }
}

impl Filter {
    /// Parses a filter in MongoDB's form.
    pub fn parse(document: &Document) -> Result<Filter, Error> {
        Filter::parse_with(document, &Variables::default())
    }

    /// Parses a filter in MongoDB's form, with the values of [variables](Variables) in the place of their names, which only `$expr` has.
    pub fn parse_with(document: &Document, variables: &Variables) -> Result<Filter, Error> {
        let variables = Substitution::new(variables);
        parse::filter(document, FilterScope::Document(&variables))
    }

    /// Compares all texts by a collation, if there is one. The filter of all documents stays as it is.
    ///
    /// ```
    /// # #[cfg(feature = "collation")] {
    /// use odm_mql::{Collation, Filter, bson::{doc, rawdoc}};
    ///
    /// let collation = Collation::parse(&doc! { "locale": "en", "strength": 1 })?;
    /// let filter = Filter::parse(&doc! { "name": "Strauß" })?.collated(collation.as_ref());
    /// assert!(filter.matches(&rawdoc! { "name": "STRAUSS" })?);
    /// # }
    /// # Ok::<_, odm_mql::Error>(())
    /// ```
    pub fn collated(self, collation: Option<&Collation>) -> Filter {
        match (collation, self) {
            (Some(collation), filter) if filter != Filter::default() => {
                Filter::Collated(collation.clone(), Box::new(filter))
            }
            (_, filter) => filter,
        }
    }

    /// Returns the filter in MongoDB's form, which does not contain collations.
    pub fn to_document(&self) -> Document {
        format::filter(self)
    }

    /// Returns MongoDB's form of the filter, and the filter that it parses to.
    ///
    /// # Errors
    ///
    /// If no form has the same meaning.
    #[doc(hidden)]
    pub fn to_parsed_form(&self) -> Result<(Document, Filter), Error> {
        if self.has_collation() {
            return Err(bad("collation", "to be beside the form of a filter"));
        }
        if format::has_literal_regex(self) {
            return Err(bad(
                "$in",
                "values other than regular expressions, which it takes for patterns",
            ));
        }
        let form = self.to_document();
        let filter = Filter::parse(&form)?;
        Ok((form, filter))
    }

    /// Returns the filter as text, with `?` in the place of each value: paths and operators. Consecutive equal branches of an `$or` are
    /// shown once.
    #[doc(hidden)]
    pub fn shape(&self) -> String {
        shape::filter(self)
    }

    /// Whether a document matches. Fields that cannot be read count as missing.
    ///
    /// # Errors
    ///
    /// [`RegexLimit`](Error::RegexLimit) if a regular expression needs too many steps;
    /// [`Expression`](Error::Expression) if an expression fails.
    pub fn matches(&self, document: &RawDocument) -> Result<bool, Error> {
        self.matches_within(document, &Steps::default(), None)
    }

    /// Whether a document matches, within these steps.
    pub(super) fn matches_within(
        &self,
        document: &RawDocument,
        steps: &Steps,
        collation: Option<&Collation>,
    ) -> Result<bool, Error> {
        let work = Work::new(steps);
        let matcher = Matcher::new(&work).collated(collation);
        let matches = matcher.filter(self, document);
        matcher.finish(matches)
    }

    /// The position of the element of an array by which a document matches, which `$` stands for in a
    /// projection and in an update.
    pub(super) fn position(&self, document: &RawDocument) -> Result<Option<usize>, Error> {
        let steps = Steps::default();
        let work = Work::new(&steps);
        let matcher = Matcher::new(&work);
        if !matcher.filter(self, document) {
            return matcher.finish(false).map(|_| None);
        }
        Ok(position::of_filter(&matcher, self, document))
    }

    /// How deep the form of a filter is nested at most.
    #[doc(hidden)]
    pub const MAX_NESTING: usize = MAX_NESTING;

    /// How deep the form of the filter is nested, without its values.
    #[doc(hidden)]
    pub fn nesting(&self) -> usize {
        match self {
            Filter::And(all) | Filter::Or(all) | Filter::Nor(all) => {
                2 + all.iter().map(Filter::nesting).max().unwrap_or_default()
            }
            Filter::Path(_, test) => 1 + test.nesting(),
            Filter::Expr(_) | Filter::Schema(_) => 1,
            Filter::Collated(_, inner) => inner.nesting(),
        }
    }

    /// The filter, unless its form is nested deeper than the parser allows.
    ///
    /// # Errors
    ///
    /// [`TooDeep`](Error::TooDeep).
    #[doc(hidden)]
    pub fn within_depth(self) -> Result<Filter, Error> {
        match self.nesting() > MAX_NESTING {
            true => Err(Error::TooDeep(MAX_NESTING)),
            false => Ok(self),
        }
    }

    /// Combines two filters: both must match.
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

    /// Whether an expression is a part of the filter. Its result for a document is unknown before it is evaluated: it can fail, and no
    /// index helps.
    pub fn has_expr(&self) -> bool {
        self.has(&|part| matches!(part, Filter::Expr(_)))
    }

    /// Whether texts are compared by a collation in a part of the filter.
    pub fn has_collation(&self) -> bool {
        self.has(&|part| match part {
            Filter::Collated(..) => true,
            Filter::Expr(expr) => expr.is_collated(),
            _ => false,
        })
    }

    /// Whether a schema is a part of the filter, which is a condition on the whole document.
    pub fn has_schema(&self) -> bool {
        self.has(&|part| matches!(part, Filter::Schema(_)))
    }

    /// Whether the filter, or one in it or in the tests of elements of arrays, is wanted.
    fn has(&self, is_wanted: &dyn Fn(&Filter) -> bool) -> bool {
        is_wanted(self)
            || match self {
                Filter::And(all) | Filter::Or(all) | Filter::Nor(all) => {
                    all.iter().any(|one| one.has(is_wanted))
                }
                Filter::Path(_, test) => test.has(is_wanted),
                Filter::Expr(_) | Filter::Schema(_) => false,
                Filter::Collated(_, inner) => inner.has(is_wanted),
            }
    }

    /// Returns the tested paths, in order, except those inside of array elements. A schema, and an expression
    /// that reads the whole document, have the empty path.
    pub fn paths(&self) -> Vec<&str> {
        match self {
            Filter::And(all) | Filter::Or(all) | Filter::Nor(all) => {
                all.iter().flat_map(Filter::paths).collect()
            }
            Filter::Path(path, _) => vec![path.as_ref()],
            Filter::Expr(expr) => expr.paths(),
            Filter::Schema(_) => vec![""],
            Filter::Collated(_, inner) => inner.paths(),
        }
    }

    /// Returns the filter with changed paths, except in conditions on the whole document.
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
            Filter::Expr(expr) => Filter::Expr(expr.with_paths(change)),
            Filter::Schema(schema) => Filter::Schema(schema),
            Filter::Collated(collation, inner) => {
                Filter::Collated(collation, Box::new(inner.with_paths(change)))
            }
        }
    }

    /// Returns the document that an upsert starts from: the fields that the filter fixes by equality,
    /// `_id` first and the others in the order of their paths.
    pub fn upsert_seed(&self) -> Result<Document, Error> {
        seed::seed(self)
    }
}

impl Test {
    /// The operator of the test in MongoDB's form.
    fn operator(&self) -> &'static str {
        match self {
            Test::Eq(_) => "$eq",
            Test::Ne(_) => "$ne",
            Test::Gt(_) => "$gt",
            Test::Gte(_) => "$gte",
            Test::Lt(_) => "$lt",
            Test::Lte(_) => "$lte",
            Test::In(_) | Test::Any(_) => "$in",
            Test::Nin(_) => "$nin",
            Test::All(_) => "$all",
            Test::Exists(_) => "$exists",
            Test::Type(_) => "$type",
            Test::Size(_) => "$size",
            Test::Mod { .. } => "$mod",
            Test::Bits(Bits::AllSet, _) => "$bitsAllSet",
            Test::Bits(Bits::AllClear, _) => "$bitsAllClear",
            Test::Bits(Bits::AnySet, _) => "$bitsAnySet",
            Test::Bits(Bits::AnyClear, _) => "$bitsAnyClear",
            Test::ElemMatch(_) | Test::ElemTest(_) => "$elemMatch",
            Test::Regex(_) => "$regex",
            Test::Not(_) => "$not",
        }
    }

    fn has(&self, is_wanted: &dyn Fn(&Filter) -> bool) -> bool {
        match self {
            Test::ElemMatch(filter) => filter.has(is_wanted),
            Test::Any(tests) | Test::All(tests) | Test::ElemTest(tests) | Test::Not(tests) => {
                tests.iter().any(|test| test.has(is_wanted))
            }
            _ => false,
        }
    }

    fn nesting(&self) -> usize {
        match self {
            Test::ElemMatch(filter) => 1 + filter.nesting(),
            Test::Any(tests) | Test::All(tests) | Test::ElemTest(tests) | Test::Not(tests) => {
                1 + tests.iter().map(Test::nesting).max().unwrap_or_default()
            }
            _ => 1,
        }
    }

    /// Whether a value passes the test as the value of a field: an array passes by its elements or as a
    /// whole.
    ///
    /// # Errors
    ///
    /// The errors of [`Filter::matches`].
    pub fn matches(&self, value: Option<RawBsonRef<'_>>) -> Result<bool, Error> {
        self.matches_within(value, &Steps::default(), None)
    }

    /// Whether a value passes the test, within these steps.
    pub(super) fn matches_within(
        &self,
        value: Option<RawBsonRef<'_>>,
        steps: &Steps,
        collation: Option<&Collation>,
    ) -> Result<bool, Error> {
        let work = Work::new(steps);
        let matcher = Matcher::new(&work).collated(collation);
        let matches = matcher.value(self, value);
        matcher.finish(matches)
    }

    /// Whether an [`ElemMatch`](Test::ElemMatch) or an [`ElemTest`](Test::ElemTest) passes by this element. Other tests do not pass by an
    /// element.
    ///
    /// # Errors
    ///
    /// The errors of [`Filter::matches`].
    pub fn matches_element(&self, element: RawBsonRef<'_>) -> Result<bool, Error> {
        self.matches_element_by(None, element)
    }

    /// The same with a collation.
    pub(super) fn matches_element_by(
        &self,
        collation: Option<&Collation>,
        element: RawBsonRef<'_>,
    ) -> Result<bool, Error> {
        let steps = Steps::default();
        let work = Work::new(&steps);
        let matcher = Matcher::new(&work).collated(collation);
        let matches = matcher.element(self, element);
        matcher.finish(matches)
    }
}

#[cfg(test)]
mod tests;
