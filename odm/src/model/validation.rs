//! The validation of documents that a model declares.

use bson::{Document, RawDocument};
use odm_mql::Violation;
use serde::{Deserialize, Serialize};

use super::{List, Number, Text};

/// The documents of a collection that are validated when they are written, as MongoDB's
/// `validationLevel`.
///
/// `#[document(validation(level = ".."))]` names it in small letters:
///
/// ```
/// use odm::prelude::*;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, Document)]
/// #[document(collection = "parts", validation(level = "moderate"))]
/// struct Part {
///     #[serde(rename = "_id")]
///     id: i64,
///     #[validate(min = 0)]
///     qty: i64,
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValidationLevel {
    /// No documents.
    Off,
    /// Inserted documents, and changed documents that conformed before.
    Moderate,
    /// All documents that a write names.
    #[default]
    Strict,
}

/// The effect of a document that does not conform, as MongoDB's `validationAction`.
///
/// `#[document(validation(action = ".."))]` names it in small letters:
///
/// ```
/// use odm::prelude::*;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, Document)]
/// #[document(collection = "parts", validation(action = "warn"))]
/// struct Part {
///     #[serde(rename = "_id")]
///     id: i64,
///     #[validate(min = 0)]
///     qty: i64,
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValidationAction {
    /// The write is stored, and a `tracing` event warns of it.
    Warn,
    /// The write fails, and nothing of it is stored.
    #[default]
    Error,
}

/// A function of the user's that checks a document as it will be stored. It adds the violations that it finds.
pub type Check = fn(&RawDocument, &mut Vec<Violation>);

/// The validation of the documents of one model.
#[derive(Debug, Clone, Copy)]
pub struct Validation {
    /// The documents that are validated.
    pub level: ValidationLevel,
    /// The effect of a document that does not conform.
    pub action: ValidationAction,
    /// A function of the user's that returns a schema in addition to the generated one.
    pub schema: Option<fn() -> Document>,
    /// The check by functions of the user's, if there are any.
    pub check: fn() -> Option<Check>,
}

/// The type of a field with rules for numbers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number that can be validated",
    label = "`min`, `max`, `multiple_of` and `one_of` of numbers are for integers and floats"
)]
pub trait ValidatesNumber {}

#[diagnostic::do_not_recommend]
impl<T: Number> ValidatesNumber for T {}

/// The type of a field with rules for texts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a text that can be validated",
    label = "`min_length`, `max_length`, `pattern` and `one_of` of texts are for strings"
)]
pub trait ValidatesText {}

#[diagnostic::do_not_recommend]
impl<T: Text> ValidatesText for T {}

/// The type of a field with rules for lists.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list that can be validated",
    label = "`min_items`, `max_items` and `unique_items` are for lists"
)]
pub trait ValidatesList {}

#[diagnostic::do_not_recommend]
impl<T: List> ValidatesList for T {}
