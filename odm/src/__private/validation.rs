//! `#[validate(..)]`.

use std::{
    fmt::Display,
    panic::{AssertUnwindSafe, catch_unwind},
};

use bson::RawDocument;

use crate::{
    model::{
        Check, Document, Location, SchemaTypes, Structure, ValidatesList, ValidatesNumber,
        ValidatesText,
    },
    mql::Violation,
};

/// The check of documents of a model by functions, if there are any.
pub fn check_of<M: Document>() -> Option<Check> {
    M::has_checks(&mut SchemaTypes::default()).then_some(check_document::<M>)
}

/// The schema of a type with fields.
pub fn schema_of<T: Structure>() -> bson::Document {
    T::schema(&mut SchemaTypes::default())
}

/// Whether functions check what is in a type with fields.
pub(super) fn has_checks<T: Structure>() -> bool {
    T::has_checks(&mut SchemaTypes::default())
}

fn check_document<M: Document>(document: &RawDocument, found: &mut Vec<Violation>) {
    let read = bson::deserialize_from_slice::<M>(document.as_bytes());
    let message = match read {
        Ok(document) => {
            let before = found.len();
            let checked = catch_unwind(AssertUnwindSafe(|| document.check(&Location::ROOT, found)));
            let Err(panic) = checked else {
                return;
            };
            found.truncate(before);
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            let text = text.unwrap_or("without a message");
            format!(
                "cannot be checked: a function of `{}` panicked: {text}",
                M::model().name
            )
        }
        Err(error) => format!("cannot be read as `{}`: {error}", M::model().name),
    };
    found.push(Violation {
        path: String::new(),
        rule: "with".to_owned(),
        message,
    });
}

/// Adds what a function says of a value.
pub fn check_with<E: Display>(
    checked: Result<(), E>,
    at: &Location<'_>,
    found: &mut Vec<Violation>,
) {
    if let Err(message) = checked {
        found.push(Violation {
            path: at.path(),
            rule: "with".to_owned(),
            message: message.to_string(),
        });
    }
}

/// Checks the type of a field with rules for numbers.
pub const fn validates_number<T: ValidatesNumber>() {}

/// Checks the type of a field with rules for texts.
pub const fn validates_text<T: ValidatesText>() {}

/// Checks the type of a field with rules for lists.
pub const fn validates_list<T: ValidatesList>() {}
