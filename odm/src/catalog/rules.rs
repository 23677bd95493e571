//! The validation rules of collections that no model declares, as programs and clients state them.

use bson::{Bson, Document, RawBsonRef, RawDocumentBuf};
use odm_mql::{Collation, Filter, show};
use odm_store::{Error, ErrorKind, Result};

use crate::model::{ValidationAction, ValidationLevel};

/// MongoDB's code of an operator or a variable in a place that does not permit it.
const QUERY_FEATURE_NOT_ALLOWED: i32 = 224;

/// The validation of a collection that no model declares: MongoDB's `validator`, `validationLevel` and `validationAction`.
///
/// [`Collection::create_validated`](crate::Collection::create_validated) makes a collection with one.
///
/// ```
/// use odm::{bson::rawdoc, collections::ValidationRule, model::ValidationLevel};
///
/// let mut rule = ValidationRule::new(rawdoc! { "qty": { "$gte": 0 } });
/// assert_eq!(rule.level, ValidationLevel::Strict);
/// rule.level = ValidationLevel::Moderate; // documents that violate it already can be changed
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ValidationRule {
    /// The filter that documents must match, in MongoDB's form, by the default collation of the collection. `$jsonSchema` can be in it, and
    /// `$$NOW` cannot.
    pub validator: RawDocumentBuf,
    /// The documents that are validated.
    pub level: ValidationLevel,
    /// The effect of a document that does not match.
    pub action: ValidationAction,
}

/// Validators are compared by their bytes.
impl Eq for ValidationRule {}

impl ValidationRule {
    /// A rule for all documents that a write names, which refuses documents that do not match the filter.
    ///
    /// ```
    /// use odm::{bson::rawdoc, collections::ValidationRule};
    ///
    /// let required = ValidationRule::new(rawdoc! { "$jsonSchema": { "required": ["name"] } });
    /// assert!(!required.validator.is_empty());
    /// ```
    pub fn new(validator: RawDocumentBuf) -> Self {
        ValidationRule {
            validator,
            level: ValidationLevel::default(),
            action: ValidationAction::Error,
        }
    }

    /// Whether it says nothing: no filter, and no other level or action than a collection without a rule has.
    pub(crate) fn is_empty(&self) -> bool {
        *self == ValidationRule::new(RawDocumentBuf::new())
    }

    /// The filter with the collation of the collection.
    ///
    /// # Errors
    ///
    /// `InvalidQuery` if a part of it is invalid, or depends on the time.
    pub(crate) fn filter(&self, collation: Option<&Collation>) -> Result<Filter> {
        let document = Document::try_from(&*self.validator).map_err(Error::malformed)?;
        let filter = Filter::parse(&document)?;
        if filter.has_expr() && document.values().any(names_time) {
            let message =
                "invalid validator: `$$NOW` is in it, and a rule must not depend on the time";
            let error = Error::new(ErrorKind::InvalidQuery, message);
            return Err(error.with_code(QUERY_FEATURE_NOT_ALLOWED));
        }
        Ok(filter.collated(collation))
    }

    /// The filter for messages.
    pub(crate) fn shown(&self) -> String {
        show(RawBsonRef::Document(&self.validator))
    }
}

/// Whether a part of a filter that was parsed names the variable of the time. Its depth is that of a filter.
fn names_time(value: &Bson) -> bool {
    match value {
        Bson::String(text) => text == "$$NOW" || text.starts_with("$$NOW."),
        Bson::Document(inner) => inner.values().any(names_time),
        Bson::Array(all) => all.iter().any(names_time),
        _ => false,
    }
}
