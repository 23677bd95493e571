//! The constraints of a filter on the values at a path, as far as an index can use them.

use std::{borrow::Cow, sync::Arc};

use bson::{RawArrayBuf, RawBson, RawBsonRef};
use odm_mql::{
    Collation, Filter, FoldedText, Pattern, Test, fold, key, order, path::position, steps,
};

use super::{
    bounds::{Cut, Interval, intersection},
    texts::{KeyForm, Texts, compares_texts, is_text},
};

/// A condition that every matching document fulfills: it passes a test at a path, and one of the values that an index on the path has for
/// it lies in the bounds.
#[derive(Debug, Clone)]
pub(in super::super) struct Constraint<'f> {
    pub(super) path: Cow<'f, str>,
    /// The bounds in a case-sensitive index, if the test has any.
    bounds: Option<Bounds>,
    /// Whether the test is the whole condition of the filter on the path.
    exactly: bool,
    /// Whether a value that passes is not null.
    pub(super) present: bool,
    /// The test that the constraint comes from.
    pub(super) test: &'f Test,
    /// By which the test compares texts.
    collation: Option<&'f Collation>,
}

/// The keys of the values that pass a test.
#[derive(Debug, Clone)]
pub(super) struct Bounds {
    /// The intervals, disjoint, in ascending order.
    pub(super) intervals: Vec<Interval>,
    /// Whether exactly the documents with a value in the intervals pass the test.
    pub(super) exact: bool,
}

impl Constraint<'_> {
    /// The bounds in an index with texts of this form, if it can be used.
    pub(super) fn bounds(&self, texts: Texts<'_>) -> Option<Cow<'_, Bounds>> {
        match texts {
            Texts::AsTheyAre => self.bounds.as_ref().map(Cow::Borrowed),
            Texts::Folded | Texts::Collated(_) => {
                let keys = KeyForm::new(texts, self.collation);
                bounds(self.test, keys, self.exactly).map(Cow::Owned)
            }
        }
    }

    /// Whether the test means the same in each collation.
    pub(super) fn is_plain(&self) -> bool {
        self.collation.is_none() || !compares_texts(self.test)
    }

    /// Whether no value that passes is a text, or has one in it, so that the order of the values is the same in each collation.
    pub(super) fn is_without_texts(&self) -> bool {
        let is_other = |value: &RawBson| {
            is_plain(value.as_raw_bson_ref()) && !is_text(value.as_raw_bson_ref())
        };
        match self.test {
            Test::Eq(value)
            | Test::Gt(value)
            | Test::Gte(value)
            | Test::Lt(value)
            | Test::Lte(value) => is_other(value),
            Test::In(values) => values.iter().all(is_other),
            _ => false,
        }
    }
}

impl Bounds {
    pub(super) fn is_equality(&self) -> bool {
        self.intervals.iter().all(Interval::is_point)
    }
}

/// Tests, each at its path.
pub(super) type Given<'f> = Arc<[(Cow<'f, str>, &'f Test)]>;

/// The constraints of a conjunction of filters.
#[derive(Debug, Default)]
pub(super) struct Constraints<'f> {
    pub(super) all: Vec<Constraint<'f>>,
    /// Tests that all requested documents pass, and that other conditions check.
    given: Given<'f>,
    /// The number of conditions of the conjunction that are not constraints.
    pub(super) others: usize,
    /// The disjunctions among these conditions, by their branches.
    pub(super) disjunctions: Vec<Disjunction<'f>>,
}

/// The branches of a disjunction, with the collation around them.
pub(super) type Disjunction<'f> = (&'f [Filter], Option<&'f Collation>);

impl<'f> Constraints<'f> {
    pub(super) fn from_filters(filters: &[&'f Filter]) -> Self {
        let mut constraints = Constraints::default();
        for filter in filters {
            constraints.add(filter, None);
        }
        constraints
    }

    /// The tests that hold for all documents of a disjunction in conjunction with these constraints.
    pub(super) fn given(&self) -> Given<'f> {
        let tests = self.all.iter().filter(|one| one.exactly && one.is_plain());
        tests
            .map(|one| {
                steps::step();
                (one.path.clone(), one.test)
            })
            .collect()
    }

    /// The constraints of a branch of a disjunction, whose documents pass these tests as well.
    pub(super) fn branch(
        filter: &'f Filter,
        collation: Option<&'f Collation>,
        given: &Given<'f>,
    ) -> Self {
        let mut constraints = Constraints {
            given: given.clone(),
            ..Constraints::default()
        };
        constraints.add(filter, collation);
        constraints
    }

    /// Tests that all requested documents pass without a collation, each at its path.
    pub(super) fn tests(&self) -> impl Iterator<Item = (&str, &Test)> + Clone {
        let all = self.all.iter();
        let all = all.filter(|one| one.exactly && one.is_plain());
        let given = self.given.iter().map(|(path, test)| (&**path, *test));
        all.map(|one| (&*one.path, one.test)).chain(given)
    }

    fn add(&mut self, filter: &'f Filter, collation: Option<&'f Collation>) {
        match filter {
            Filter::And(filters) => filters
                .iter()
                .for_each(|filter| self.add(filter, collation)),
            Filter::Or(filters) if filters.len() == 1 => self.add(&filters[0], collation),
            Filter::Or(filters) => {
                self.others += 1;
                self.disjunctions.push((filters, collation));
            }
            Filter::Nor(_) | Filter::Expr(_) | Filter::Schema(_) => self.others += 1,
            Filter::Path(path, test) => self.add_test(Cow::Borrowed(path), test, collation, true),
            Filter::Collated(collation, filter) => self.add(filter, Some(collation)),
        }
    }

    fn add_test(
        &mut self,
        path: Cow<'f, str>,
        test: &'f Test,
        collation: Option<&'f Collation>,
        exactly: bool,
    ) {
        match test {
            Test::All(tests) => {
                self.others += 1;
                tests
                    .iter()
                    .for_each(|test| self.add_test(path.clone(), test, collation, false));
            }
            Test::ElemMatch(filter) => {
                self.others += 1;
                self.add_element(&path, filter, collation);
            }
            // An element that a path names by its position may be an array. The test sees the elements of that array, but the index does
            // not.
            Test::ElemTest(_) if path.split('.').any(|part| position(part).is_some()) => {
                self.others += 1;
            }
            _ => {
                let own = collation.map_or(Texts::AsTheyAre, Texts::Collated);
                let in_own = bounds(test, KeyForm::new(own, collation), exactly);
                let present = match &in_own {
                    Some(bounds) => !bounds.intervals.contains(&null()),
                    // Only an index that ignores case, or has a filter, may help.
                    None => is_folded(test) && !is_passed_by_absent(test),
                };
                let bounds = match collation {
                    None => in_own,
                    Some(_) => {
                        let keys = KeyForm::new(Texts::AsTheyAre, collation);
                        bounds(test, keys, exactly)
                    }
                };
                self.all.push(Constraint {
                    path,
                    bounds,
                    exactly,
                    present,
                    test,
                    collation,
                });
            }
        }
    }

    /// A matching element has, for each condition on a path in it, a value that the index on the longer path has as well.
    fn add_element(&mut self, path: &str, filter: &'f Filter, collation: Option<&'f Collation>) {
        match filter {
            Filter::And(filters) => filters
                .iter()
                .for_each(|filter| self.add_element(path, filter, collation)),
            Filter::Path(inner, test) => {
                let path = format!("{path}.{inner}");
                // If an element is an array, its positions are its fields.
                if path.split('.').all(|part| position(part).is_none()) {
                    self.add_test(Cow::Owned(path), test, collation, false);
                }
            }
            Filter::Collated(collation, filter) => self.add_element(path, filter, Some(collation)),
            Filter::Or(_) | Filter::Nor(_) | Filter::Expr(_) | Filter::Schema(_) => {}
        }
    }
}

/// The bounds of the values that pass a test. `None` if an index cannot be used. They are exact only if the test is the whole condition on
/// the path.
fn bounds(test: &Test, keys: KeyForm<'_>, exactly: bool) -> Option<Bounds> {
    let (intervals, exact) = intervals(test, keys)?;
    Some(Bounds {
        intervals,
        exact: exact && exactly,
    })
}

/// Whether a test has bounds in an index that ignores case, and in no other.
fn is_folded(test: &Test) -> bool {
    match test {
        Test::Regex(pattern) => pattern.as_folded().is_some(),
        Test::Any(tests) => tests.iter().all(|test| match test {
            Test::Regex(pattern) => pattern.as_folded().is_some(),
            _ => true,
        }),
        _ => false,
    }
}

/// Whether null, and so a missing value, or an empty array is one of the values of a test with several. An index of present values alone has
/// no entry for these.
fn is_passed_by_absent(test: &Test) -> bool {
    match test {
        Test::In(values) => {
            values.has(RawBsonRef::Null) || values.has(RawBsonRef::Array(&RawArrayBuf::new()))
        }
        Test::Any(tests) => tests.iter().any(is_passed_by_absent),
        _ => false,
    }
}

/// Intervals that contain all values that pass a test, and whether they contain no others. `None` if an
/// index cannot be used.
fn intervals(test: &Test, keys: KeyForm<'_>) -> Option<(Vec<Interval>, bool)> {
    match test {
        Test::Eq(value) => {
            let value = value.as_raw_bson_ref();
            Some((vec![point(value, keys)?], is_one_key(value, keys.texts())))
        }
        Test::In(values) => {
            let mut points: Vec<Interval> = Vec::with_capacity(values.len());
            for value in values.iter() {
                points.push(point(value.as_raw_bson_ref(), keys)?);
            }
            Some((
                in_order(points),
                values
                    .iter()
                    .all(|value| is_one_key(value.as_raw_bson_ref(), keys.texts())),
            ))
        }
        // Each test is a list of values or a pattern. Prefixes may overlap, and are not merged.
        Test::Any(tests) => {
            let (mut points, mut exact) = (Vec::new(), true);
            for test in tests {
                let (found, is_exact) = intervals(test, keys)?;
                exact &= is_exact;
                points.extend(found);
            }
            let are_points = points.iter().all(Interval::is_point);
            are_points.then(|| (in_order(points), exact))
        }
        Test::Gt(value) => range(value, keys, |key, (_, end)| {
            (Cut::after(key), Cut::before(end))
        }),
        Test::Gte(value) => range(value, keys, |key, (_, end)| {
            (Cut::before(key), Cut::before(end))
        }),
        Test::Lt(value) => range(value, keys, |key, (start, _)| (start, Cut::before(key))),
        Test::Lte(value) => range(value, keys, |key, (start, _)| (start, Cut::after(key))),
        Test::ElemTest(tests) => {
            // One element passes all of the tests.
            let found = tests.iter().filter_map(|test| intervals(test, keys));
            let all = intersection(found.map(|(found, _)| found.into()).collect());
            all.map(|intervals| (intervals.into_owned(), false))
        }
        Test::Regex(pattern) => {
            let (text, exact) = match (keys.texts(), pattern.as_folded()) {
                (Texts::Collated(_), _) => return None,
                (Texts::AsTheyAre, _) => (starting_with(&literal_prefix(pattern)?), false),
                (Texts::Folded, None) => {
                    let prefix = literal_prefix(pattern)?;
                    (starting_with(&fold::text(&prefix)), false)
                }
                (Texts::Folded, Some(FoldedText::StartsWith(prefix))) => {
                    (starting_with(prefix), true)
                }
                (Texts::Folded, Some(FoldedText::Equals(text))) => {
                    (Interval::Point(encode(RawBsonRef::String(text))), true)
                }
            };
            let mut intervals = vec![text];
            // An equal pattern as a stored value matches, too.
            if let Some(same) = as_value(pattern) {
                intervals.push(Interval::Point(encode(same.as_raw_bson_ref())));
            }
            Some((intervals, exact))
        }
        _ => None,
    }
}

/// The texts that start with this one.
fn starting_with(prefix: &str) -> Interval {
    let mut key = encode(RawBsonRef::String(prefix));
    // Without the byte that ends the string.
    key.pop();
    Interval::Range(Cut::before(key.clone()), Cut::after(key))
}

/// The points in ascending order, each once.
fn in_order(mut points: Vec<Interval>) -> Vec<Interval> {
    points.sort_unstable_by(|a, b| a.as_point().cmp(&b.as_point()));
    points.dedup();
    points
}

/// The key of null, which is the key of missing values as well.
fn null() -> Interval {
    Interval::Point(encode(RawBsonRef::Null))
}

fn encode(value: RawBsonRef<'_>) -> Vec<u8> {
    let mut key = Vec::with_capacity(16);
    key::encode(value, &mut key);
    key
}

fn point(value: RawBsonRef<'_>, keys: KeyForm<'_>) -> Option<Interval> {
    match value {
        value if keys.lacks(value) => None,
        // An index has the elements of an array, and a regular expression also matches strings.
        RawBsonRef::Array(_) | RawBsonRef::Undefined | RawBsonRef::RegularExpression(_) => None,
        value => Some(Interval::Point(keys.encode(value))),
    }
}

fn range(
    value: &RawBson,
    keys: KeyForm<'_>,
    cuts: impl FnOnce(Vec<u8>, (Cut, Vec<u8>)) -> (Cut, Cut),
) -> Option<(Vec<Interval>, bool)> {
    let value = value.as_raw_bson_ref();
    let comparable = match value {
        RawBsonRef::Document(_) | RawBsonRef::Binary(_) | RawBsonRef::Timestamp(_) => true,
        value => is_plain(value),
    };
    // Folded texts are in another order.
    if !comparable || keys.lacks(value) || keys.texts() == Texts::Folded && is_text(value) {
        return None;
    }
    let (start, end) = key::bracket(value);
    let start = match value {
        RawBsonRef::Int32(_)
        | RawBsonRef::Int64(_)
        | RawBsonRef::Double(_)
        | RawBsonRef::Decimal128(_) => {
            // NaN sorts before all numbers, but no number is greater than it.
            Cut::after(encode(RawBsonRef::Double(f64::NAN)))
        }
        _ => Cut::before(start),
    };
    let (lower, upper) = cuts(keys.encode(value), (start, end));
    let intervals = if lower < upper {
        vec![Interval::Range(lower, upper)]
    } else {
        Vec::new()
    };
    Some((intervals, is_plain(value)))
}

/// Whether the order of the keys decides a comparison with this value.
fn is_plain(value: RawBsonRef<'_>) -> bool {
    match value {
        RawBsonRef::Int32(_)
        | RawBsonRef::Int64(_)
        | RawBsonRef::String(_)
        | RawBsonRef::ObjectId(_)
        | RawBsonRef::Boolean(_)
        | RawBsonRef::DateTime(_) => true,
        RawBsonRef::Double(_) | RawBsonRef::Decimal128(_) => !order::is_nan(value),
        _ => false,
    }
}

/// Whether a key stands for all values that equal this one, and for no other.
fn is_one_key(value: RawBsonRef<'_>, texts: Texts<'_>) -> bool {
    if texts == Texts::Folded && is_text(value) {
        return false;
    }
    let whole = matches!(
        value,
        RawBsonRef::Document(_) | RawBsonRef::Binary(_) | RawBsonRef::Timestamp(_)
    );
    whole || is_plain(value)
}

fn as_value(pattern: &Pattern) -> Option<RawBson> {
    let text = |text: &str| bson::raw::CString::try_from(text.to_owned()).ok();
    let (pattern, options) = (text(pattern.source())?, text(pattern.options())?);
    Some(RawBson::RegularExpression(bson::Regex { pattern, options }))
}

/// The common prefix of all strings that a pattern matches, if it has one.
fn literal_prefix(pattern: &Pattern) -> Option<String> {
    // Other options allow a match at another position or with other letters.
    if !pattern.options().chars().all(|option| option == 's') || pattern.source().contains('|') {
        return None;
    }
    let mut rest = pattern.source().strip_prefix('^')?.chars().peekable();
    let mut prefix = String::new();
    while let Some(char) = rest.next() {
        let literal = match char {
            '\\' => match rest.next() {
                Some(escaped)
                    if escaped.is_ascii_punctuation() && escaped != '<' && escaped != '>' =>
                {
                    escaped
                }
                _ => break,
            },
            '.' | '[' | '(' | ')' | '$' | '^' | '*' | '+' | '?' | '{' => break,
            literal => literal,
        };
        // A letter before a quantifier may be absent. Syntax without a meaning may stand between the two.
        let follows = rest.clone().take(3).collect::<String>();
        let is_hidden = |text: &str| follows.starts_with(text);
        if matches!(rest.peek(), Some('*' | '?' | '{'))
            || [r"\E", r"\Q", "(?#"].into_iter().any(is_hidden)
        {
            break;
        }
        prefix.push(literal);
    }
    (!prefix.is_empty()).then_some(prefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(source: &str) -> Option<String> {
        literal_prefix(&Pattern::new(source, "").expect("a pattern"))
    }

    #[test]
    fn the_prefix_of_a_pattern_ends_where_it_becomes_uncertain() {
        assert_eq!(prefix("^abc").as_deref(), Some("abc"));
        assert_eq!(prefix("^abc.*").as_deref(), Some("abc"));
        assert_eq!(prefix("^abc*").as_deref(), Some("ab"));
        assert_eq!(prefix("^abc+d").as_deref(), Some("abc"));
        assert_eq!(prefix(r"^a\.b").as_deref(), Some("a.b"));
        assert_eq!(prefix(r"^a\d").as_deref(), Some("a"));
        assert_eq!(prefix(r"^a\.?b").as_deref(), Some("a"));
        assert_eq!(prefix("abc"), None);
        assert_eq!(prefix("^abc|d"), None);
        assert_eq!(prefix("^a{0}"), None);
        assert_eq!(prefix(r"^ab\E*").as_deref(), Some("a"));
        assert_eq!(prefix(r"^ab\Q\E?").as_deref(), Some("a"));
        assert_eq!(prefix("^ab(?#c)*").as_deref(), Some("a"));
        assert_eq!(prefix("^ab(?:c)").as_deref(), Some("ab"));
    }
}
