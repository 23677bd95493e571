//! The filters of partial indexes.

use std::{borrow::Cow, fmt};

use bson::{Document, RawBson, RawDocument};
use odm_mql::{Filter, Test, is_scalar};
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};

/// The filter of a partial index: the condition on the documents in it.
///
/// It is one condition on a field, or a conjunction of them: the field equals null, a text, a number, a bool, a date, an id or binary data,
/// or is greater or less than one of these except null; it exists; it has a type. So the planner can tell whether the filter of a query
/// implies it. A field that is an array fulfills a condition by any of its elements, as in a query.
#[derive(Debug, Clone)]
pub struct IndexFilter {
    filter: Filter,
    form: FilterForm,
}

/// The bytes of the BSON form of a filter, for comparison and storage: in this form, operators are not names of fields.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
#[doc(hidden)]
pub struct FilterForm(#[serde(with = "serde_bytes")] Vec<u8>);

impl IndexFilter {
    /// Makes the filter of an index.
    ///
    /// # Errors
    ///
    /// [`Schema`](ErrorKind::Schema) if the filter has another condition, which the error names, or no condition.
    pub fn new(filter: &Filter) -> Result<Self> {
        if conditions(filter).next().is_none() {
            return Err(refused(
                "it matches every document: leave it out".to_owned(),
            ));
        }
        if filter.has_collation() {
            let why =
                "it has a collation: leave it out, since the conditions compare the bytes of texts";
            return Err(refused(why.to_owned()));
        }
        if let Some(other) = conditions(filter).find(|one| !is_allowed(one)) {
            return Err(refused(format!(
                "`{}` is none of its conditions: these are equality and order with a text, a number, a bool, a date, \
                 an id or binary data, equality with null, `exists(true)`, types, and several of these that all hold",
                other.to_document()
            )));
        }
        let (form, filter) = filter.to_parsed_form()?;
        let form = form.to_vec().map_err(Error::malformed)?;
        Ok(IndexFilter {
            filter,
            form: FilterForm(form),
        })
    }

    /// Returns the filter as MongoDB's form of it.
    pub fn to_document(&self) -> Document {
        self.filter.to_document()
    }

    /// The form in which it is stored.
    #[doc(hidden)]
    pub fn form(&self) -> &FilterForm {
        &self.form
    }

    /// Returns the filter with changed paths.
    #[doc(hidden)]
    pub fn with_paths(&self, change: &dyn Fn(&str) -> Cow<'static, str>) -> Result<Self> {
        IndexFilter::new(&self.filter.clone().with_paths(change))
    }

    /// Whether a document matches.
    ///
    /// # Errors
    ///
    /// None: no condition of such a filter fails.
    pub fn matches(&self, document: &RawDocument) -> Result<bool> {
        Ok(self.filter.matches(document)?)
    }

    /// The paths of its conditions.
    #[doc(hidden)]
    pub fn paths(&self) -> Vec<&str> {
        self.filter.paths()
    }

    /// Whether the filter is known to match every document that passes all of these tests, each at its path.
    #[doc(hidden)]
    pub fn follows_from<'t>(
        &self,
        tests: impl Iterator<Item = (&'t str, &'t Test)> + Clone,
    ) -> bool {
        self.tests().all(|(path, test)| {
            let mut at_path = tests.clone().filter(|(other, _)| *other == path);
            at_path.any(|(_, one)| one.implies(test))
        })
    }

    /// Whether every document that the filter matches is known to pass this test.
    #[doc(hidden)]
    pub fn implies(&self, path: &str, test: &Test) -> bool {
        let mut at_path = self.tests().filter(|(other, _)| *other == path);
        at_path.any(|(_, one)| one.implies(test))
    }

    /// Whether a condition compares a text.
    #[doc(hidden)]
    pub fn compares_texts(&self) -> bool {
        let is_text = |value: &RawBson| matches!(value, RawBson::String(_) | RawBson::Symbol(_));
        self.tests().any(|(_, test)| match test {
            Test::Eq(value)
            | Test::Gt(value)
            | Test::Gte(value)
            | Test::Lt(value)
            | Test::Lte(value) => is_text(value),
            // The filter has no other test with a value.
            _ => false,
        })
    }

    fn tests(&self) -> impl Iterator<Item = (&str, &Test)> {
        conditions(&self.filter).filter_map(|one| match one {
            Filter::Path(path, test) => Some((&**path, test)),
            _ => None,
        })
    }
}

/// The conditions that must all hold.
fn conditions(filter: &Filter) -> Box<dyn Iterator<Item = &Filter> + '_> {
    match filter {
        Filter::And(all) => Box::new(all.iter().flat_map(conditions)),
        one => Box::new(std::iter::once(one)),
    }
}

fn is_allowed(condition: &Filter) -> bool {
    let Filter::Path(_, test) = condition else {
        return false;
    };
    match test {
        Test::Eq(bson::RawBson::Null) | Test::Exists(true) | Test::Type(_) => true,
        Test::Eq(value)
        | Test::Gt(value)
        | Test::Gte(value)
        | Test::Lt(value)
        | Test::Lte(value) => is_scalar(value),
        _ => false,
    }
}

fn refused(why: String) -> Error {
    Error::new(
        ErrorKind::Schema,
        format!("invalid filter of a partial index: {why}"),
    )
}

impl fmt::Display for IndexFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.filter.to_document().fmt(f)
    }
}

impl PartialEq for IndexFilter {
    fn eq(&self, other: &Self) -> bool {
        self.form == other.form
    }
}

impl Eq for IndexFilter {}

impl TryFrom<FilterForm> for IndexFilter {
    type Error = Error;

    fn try_from(form: FilterForm) -> Result<Self> {
        let document = RawDocument::from_bytes(&form.0).and_then(Document::try_from);
        let document = document.map_err(Error::malformed)?;
        let filter = Filter::parse(&document)?;
        Ok(IndexFilter { filter, form })
    }
}
