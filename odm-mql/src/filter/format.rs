//! The formatter of MongoDB's form of a filter.

use bson::{Bson, Document, RawBson, doc};

use super::{Filter, Test, pattern};
use crate::types::{self, from_raw, is_operators};

pub(super) fn filter(filter: &Filter) -> Document {
    let mut all = Vec::new();
    flatten(filter, &mut all);
    let mut fields = FormatFields::default();
    for (at, one) in all.iter().enumerate() {
        if !fields.add(one) {
            // A filter that cannot be merged into the fields of the others follows in full, so that the order stays.
            let rest = all[at..].iter().map(|one| document(one));
            fields
                .0
                .push(("$and".to_owned(), FormatEntry::Value(rest.collect())));
            break;
        }
    }
    fields.into_document()
}

/// Whether a filter compares values with a regular expression by an operator that takes it for a
/// pattern in MongoDB's form.
pub(super) fn has_literal_regex(filter: &Filter) -> bool {
    match filter {
        Filter::And(all) | Filter::Or(all) | Filter::Nor(all) => all.iter().any(has_literal_regex),
        Filter::Path(_, test) => tests_literal_regex(test),
        Filter::Expr(_) | Filter::Schema(_) => false,
        Filter::Collated(_, inner) => has_literal_regex(inner),
    }
}

fn tests_literal_regex(test: &Test) -> bool {
    let is_regex = |value: &RawBson| matches!(value, RawBson::RegularExpression(_));
    match test {
        Test::In(values) | Test::Nin(values) => values.iter().any(is_regex),
        Test::All(tests) => tests.iter().any(|test| match test {
            Test::Eq(value) => is_regex(value),
            test => tests_literal_regex(test),
        }),
        Test::Any(tests) | Test::ElemTest(tests) | Test::Not(tests) => {
            tests.iter().any(tests_literal_regex)
        }
        Test::ElemMatch(filter) => has_literal_regex(filter),
        Test::Eq(_)
        | Test::Ne(_)
        | Test::Gt(_)
        | Test::Gte(_)
        | Test::Lt(_)
        | Test::Lte(_)
        | Test::Exists(_)
        | Test::Type(_)
        | Test::Size(_)
        | Test::Mod { .. }
        | Test::Bits(..)
        | Test::Regex(_) => false,
    }
}

fn flatten<'a>(filter: &'a Filter, all: &mut Vec<&'a Filter>) {
    match filter {
        Filter::And(inner) => inner.iter().for_each(|one| flatten(one, all)),
        Filter::Collated(_, inner) => flatten(inner, all),
        one => all.push(one),
    }
}

/// The fields of a filter document that is being built.
#[derive(Default)]
struct FormatFields(Vec<(String, FormatEntry)>);

enum FormatEntry {
    Tests(Document),
    Value(Bson),
}

impl FormatFields {
    /// Adds a filter, or returns `false` if it cannot be merged into the fields. The first filter always can.
    fn add(&mut self, filter: &Filter) -> bool {
        match filter {
            Filter::And(_) => self.add_value("$and", || vec![document(filter)].into()),
            Filter::Or(any) if any.is_empty() => {
                self.add_value("$nor", || vec![Bson::Document(doc! {})].into())
            }
            Filter::Or(any) => self.add_value("$or", || any.iter().map(document).collect()),
            Filter::Nor(none) if none.is_empty() => true,
            Filter::Nor(none) => self.add_value("$nor", || none.iter().map(document).collect()),
            Filter::Expr(expr) => self.add_value("$expr", || expr.to_bson()),
            Filter::Schema(schema) => self.add_value("$jsonSchema", || {
                from_raw(&RawBson::Document(schema.as_document().to_owned()))
            }),
            Filter::Path(path, Test::Not(tests)) if operators(tests).is_none() => {
                self.add_value("$nor", || vec![Bson::Document(all_of(path, tests))].into())
            }
            Filter::Path(path, test) => self.add_test(path, test),
            Filter::Collated(_, inner) => self.add(inner),
        }
    }

    fn add_value(&mut self, operator: &str, value: impl FnOnce() -> Bson) -> bool {
        let free = self.0.iter().all(|(other, _)| other != operator);
        if free {
            let entry = FormatEntry::Value(value());
            self.0.push((operator.to_owned(), entry));
        }
        free
    }

    fn add_test(&mut self, path: &str, test: &Test) -> bool {
        // Only the last field can take more tests: another one would change the order.
        if let Some((last, FormatEntry::Tests(tests))) = self.0.last_mut()
            && last == path
        {
            return add_operator(tests, test);
        }
        let mut tests = Document::new();
        let free = self.0.iter().all(|(other, _)| other != path);
        if free && add_operator(&mut tests, test) {
            self.0.push((path.to_owned(), FormatEntry::Tests(tests)));
            return true;
        }
        false
    }

    fn into_document(self) -> Document {
        self.0
            .into_iter()
            .map(|(key, entry)| match entry {
                FormatEntry::Value(value) => (key, value),
                FormatEntry::Tests(tests) => (key, short(tests)),
            })
            .collect()
    }
}

/// The short form `{ a: 1 }` of `{ a: { $eq: 1 } }`, if it means the same.
fn short(tests: Document) -> Bson {
    match tests.get("$eq") {
        Some(Bson::RegularExpression(_)) => tests.into(),
        Some(Bson::Document(document)) if is_operators(document) => tests.into(),
        Some(value) if tests.len() == 1 => value.clone(),
        _ => tests.into(),
    }
}

fn document(filter: &Filter) -> Bson {
    Bson::Document(self::filter(filter))
}

fn all_of(path: &str, tests: &[Test]) -> Document {
    let all = tests
        .iter()
        .map(|test| Filter::Path(path.to_owned().into(), test.clone()));
    self::filter(&Filter::And(all.collect()))
}

/// The tests as one document of operators. A test whose operator is taken is negated twice, which gives it a document of its own. `None` if
/// that would take a second `$not`.
fn operators(tests: &[Test]) -> Option<Document> {
    let mut document = Document::new();
    let rest: Vec<Test> = tests
        .iter()
        .filter(|test| !add_operator(&mut document, test))
        .cloned()
        .collect();
    if !rest.is_empty() {
        if document.contains_key("$not") || rest.len() == tests.len() {
            return None;
        }
        document.insert("$not", doc! { "$not": operators(&rest)? });
    }
    Some(document)
}

fn add_operator(tests: &mut Document, test: &Test) -> bool {
    let mut operator = test.operator();
    let value = match test {
        Test::Eq(value)
        | Test::Ne(value)
        | Test::Gt(value)
        | Test::Gte(value)
        | Test::Lt(value)
        | Test::Lte(value) => from_raw(value),
        Test::In(values) | Test::Nin(values) => values.iter().map(from_raw).collect(),
        Test::Any(tests) | Test::All(tests) => tests.iter().flat_map(values).collect(),
        Test::Exists(exists) => (*exists).into(),
        Test::Type(kinds) => match kinds.as_slice() {
            [kind] => types::name(*kind).into(),
            kinds => kinds
                .iter()
                .map(|kind| Bson::from(types::name(*kind)))
                .collect(),
        },
        Test::Size(size) => (*size).into(),
        Test::Mod { divisor, remainder } => Bson::from(vec![*divisor, *remainder]),
        Test::Bits(_, positions) => {
            let positions = positions.iter().map(|at| Bson::from(i64::from(*at)));
            positions.collect()
        }
        Test::ElemMatch(filter) => self::filter(filter).into(),
        Test::ElemTest(tests) => element_test(tests).into(),
        Test::Regex(pattern) => {
            if tests.contains_key(operator) {
                return false;
            }
            tests.insert(operator, pattern.source());
            if !pattern.options().is_empty() {
                tests.insert("$options", pattern.options());
            }
            return true;
        }
        // No value passes a test that excludes all values.
        Test::Not(none) if none.is_empty() => {
            operator = "$in";
            Bson::Array(Vec::new())
        }
        Test::Not(none) => match (excluded(none), operators(none)) {
            // `$not` is left to another negation.
            (Some(any), _) if !tests.contains_key("$nin") => {
                operator = "$nin";
                any.iter().flat_map(values).collect()
            }
            (_, Some(none)) => none.into(),
            (_, None) => return false,
        },
    };
    let free = !tests.contains_key(operator);
    if free {
        tests.insert(operator, value);
    }
    free
}

/// The operands of `$nin`, if a negation has that form: a negated list with a pattern. A list without a pattern is another test.
fn excluded(none: &[Test]) -> Option<&[Test]> {
    match none {
        [Test::Any(any)] if any.iter().any(|test| matches!(test, Test::Regex(_))) => Some(any),
        _ => None,
    }
}

/// The value of a test in the array of `$in` or `$all`.
fn values(test: &Test) -> Vec<Bson> {
    match test {
        Test::In(values) => values.iter().map(from_raw).collect(),
        Test::Eq(value) => vec![from_raw(value)],
        Test::Regex(regex) => pattern::to_bson(regex)
            .map(Bson::RegularExpression)
            .into_iter()
            .collect(),
        other => operators(std::slice::from_ref(other))
            .map(Bson::Document)
            .into_iter()
            .collect(),
    }
}

/// All tests as operators on one element.
pub(crate) fn element_test(tests: &[Test]) -> Document {
    if tests.is_empty() {
        return doc! { "$exists": true };
    }
    // MongoDB has no form for two negations on one element, and refuses this one.
    operators(tests).unwrap_or_else(|| {
        let each = tests
            .iter()
            .filter_map(|test| operators(std::slice::from_ref(test)));
        doc! { "$not": { "$and": each.collect::<Vec<_>>() } }
    })
}
