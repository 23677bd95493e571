//! The constraints that a filter puts on the values at a path, as far as an index can use them.

use std::borrow::Cow;

use bson::{RawBson, RawBsonRef};

use super::bounds::{Cut, Interval, intersect};
use crate::mql::{Filter, Pattern, Test, key, order, path::position};

/// A condition that every matching document fulfills: one of the values that an index on the path has
/// for the document lies in one of the intervals.
#[derive(Debug, Clone)]
pub(in super::super) struct Constraint<'f> {
    pub(super) path: Cow<'f, str>,
    /// The intervals, disjoint, in ascending order.
    pub(super) intervals: Vec<Interval>,
    /// Whether exactly the documents with a value in the intervals pass the test.
    pub(super) exact: bool,
    /// Whether the intervals exclude null.
    pub(super) present: bool,
    /// The test that the constraint comes from.
    pub(super) test: &'f Test,
}

impl Constraint<'_> {
    pub(super) fn is_equality(&self) -> bool {
        self.intervals.iter().all(Interval::is_point)
    }
}

/// The constraints of a conjunction of filters.
#[derive(Debug, Default)]
pub(super) struct Constraints<'f> {
    pub(super) all: Vec<Constraint<'f>>,
    /// The number of conditions of the conjunction that are not constraints.
    pub(super) others: usize,
    /// The disjunctions among these conditions, by their branches.
    pub(super) disjunctions: Vec<&'f [Filter]>,
}

impl<'f> Constraints<'f> {
    pub(super) fn from_filters(filters: &[&'f Filter]) -> Self {
        let mut constraints = Constraints::default();
        for filter in filters {
            constraints.add(filter);
        }
        constraints
    }

    fn add(&mut self, filter: &'f Filter) {
        match filter {
            Filter::And(filters) => filters.iter().for_each(|filter| self.add(filter)),
            Filter::Or(filters) if filters.len() == 1 => self.add(&filters[0]),
            Filter::Or(filters) => {
                self.others += 1;
                self.disjunctions.push(filters);
            }
            Filter::Nor(_) | Filter::Expr(_) | Filter::Schema(_) => self.others += 1,
            Filter::Path(path, test) => self.add_test(Cow::Borrowed(path), test, true),
        }
    }

    fn add_test(&mut self, path: Cow<'f, str>, test: &'f Test, exactly: bool) {
        match test {
            Test::All(tests) => {
                self.others += 1;
                tests
                    .iter()
                    .for_each(|test| self.add_test(path.clone(), test, false));
            }
            Test::ElemMatch(filter) => {
                self.others += 1;
                self.add_element(&path, filter);
            }
            // An element that a path names by its position may be an array. The test sees the
            // elements of that array, and the index does not.
            Test::ElemTest(_) if path.split('.').any(|part| position(part).is_some()) => {
                self.others += 1;
            }
            _ => match intervals(test) {
                None => self.others += 1,
                Some((intervals, exact)) => {
                    let null = null();
                    let present = !intervals.contains(&null);
                    let exact = exact && exactly;
                    self.all.push(Constraint {
                        path,
                        intervals,
                        exact,
                        present,
                        test,
                    });
                }
            },
        }
    }

    /// An element that matches has, for each condition on a path in it, a value that the index on
    /// the longer path has as well.
    fn add_element(&mut self, path: &str, filter: &'f Filter) {
        match filter {
            Filter::And(filters) => filters
                .iter()
                .for_each(|filter| self.add_element(path, filter)),
            Filter::Path(inner, test) => {
                let path = format!("{path}.{inner}");
                // Where an element is an array, its positions are its fields.
                if path.split('.').all(|part| position(part).is_none()) {
                    self.add_test(Cow::Owned(path), test, false);
                }
            }
            Filter::Or(_) | Filter::Nor(_) | Filter::Expr(_) | Filter::Schema(_) => {}
        }
    }
}

/// Intervals that contain all values that pass a test, and whether they contain no others. `None` if an
/// index cannot be used.
fn intervals(test: &Test) -> Option<(Vec<Interval>, bool)> {
    match test {
        Test::Eq(value) => {
            let value = value.as_raw_bson_ref();
            Some((vec![point(value)?], is_one_key(value)))
        }
        Test::In(values) => {
            let mut points: Vec<Interval> = Vec::with_capacity(values.len());
            for value in values.iter() {
                points.push(point(value.as_raw_bson_ref())?);
            }
            points.sort_unstable_by(|a, b| match (a, b) {
                (Interval::Point(a), Interval::Point(b)) => a.cmp(b),
                _ => std::cmp::Ordering::Equal,
            });
            points.dedup();
            Some((
                points,
                values
                    .iter()
                    .all(|value| is_one_key(value.as_raw_bson_ref())),
            ))
        }
        Test::Gt(value) => range(value, |key, (_, end)| (Cut::after(key), Cut::before(end))),
        Test::Gte(value) => range(value, |key, (_, end)| (Cut::before(key), Cut::before(end))),
        Test::Lt(value) => range(value, |key, (start, _)| (start, Cut::before(key))),
        Test::Lte(value) => range(value, |key, (start, _)| (start, Cut::after(key))),
        Test::ElemTest(tests) => {
            // One element passes all of them.
            let mut all: Option<Vec<Interval>> = None;
            for (found, _) in tests.iter().filter_map(intervals) {
                all = Some(match all {
                    None => found,
                    Some(all) => intersect(&all, &found),
                });
            }
            all.map(|intervals| (intervals, false))
        }
        Test::Regex(pattern) => {
            let prefix = literal_prefix(pattern)?;
            let mut key = Vec::new();
            key::encode(RawBsonRef::String(&prefix), &mut key);
            // Without the byte that ends the string.
            key.pop();
            let mut intervals = vec![Interval::Range(Cut::before(key.clone()), Cut::after(key))];
            // A stored pattern is matched by an equal one.
            if let Some(same) = as_value(pattern) {
                intervals.push(Interval::Point(encode(same.as_raw_bson_ref())));
            }
            Some((intervals, false))
        }
        _ => None,
    }
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

fn point(value: RawBsonRef<'_>) -> Option<Interval> {
    match value {
        // An index has the elements of an array, and a regular expression matches strings as well.
        RawBsonRef::Array(_) | RawBsonRef::Undefined | RawBsonRef::RegularExpression(_) => None,
        value => Some(Interval::Point(encode(value))),
    }
}

fn range(
    value: &RawBson,
    cuts: impl FnOnce(Vec<u8>, (Cut, Vec<u8>)) -> (Cut, Cut),
) -> Option<(Vec<Interval>, bool)> {
    let value = value.as_raw_bson_ref();
    let comparable = match value {
        RawBsonRef::Document(_) | RawBsonRef::Binary(_) | RawBsonRef::Timestamp(_) => true,
        value => is_plain(value),
    };
    if !comparable {
        return None;
    }
    let (start, end) = key::bracket(value);
    let start = match value {
        RawBsonRef::Int32(_)
        | RawBsonRef::Int64(_)
        | RawBsonRef::Double(_)
        | RawBsonRef::Decimal128(_) => {
            // NaN sorts before all numbers, but is less than none.
            Cut::after(encode(RawBsonRef::Double(f64::NAN)))
        }
        _ => Cut::before(start),
    };
    let (lower, upper) = cuts(encode(value), (start, end));
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
fn is_one_key(value: RawBsonRef<'_>) -> bool {
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
    // Other options let a match begin at another position or with other letters.
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
        // A letter that may be repeated may be absent. Between the two there may be what has no meaning.
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
