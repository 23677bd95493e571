//! `#[validate(..)]`.

use std::{
    fmt::Display,
    panic::{AssertUnwindSafe, catch_unwind},
};

use bson::RawDocument;
use odm_mql::Violation;
use serde::de::DeserializeOwned;

use crate::model::{
    Check, SchemaTypes, Structure, ValidatesList, ValidatesNumber, ValidatesText, ValueLocation,
    read,
};

/// The check of stored values of a type by functions, if there are any.
pub fn check_of<T: Structure + DeserializeOwned>() -> Option<Check> {
    T::has_checks(&mut SchemaTypes::default()).then_some(check_stored::<T>)
}

/// The schema of a type with fields.
pub fn schema_of<T: Structure>() -> bson::Document {
    T::schema(&mut SchemaTypes::default())
}

fn check_stored<T: Structure + DeserializeOwned>(stored: &RawDocument, found: &mut Vec<Violation>) {
    let read = read::<T>(stored);
    let message = match read {
        Ok(value) => {
            let before = found.len();
            let checked = catch_unwind(AssertUnwindSafe(|| {
                value.check(&ValueLocation::ROOT, found)
            }));
            let Err(panic) = checked else {
                return;
            };
            found.truncate(before);
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            let text = text.unwrap_or("without a message");
            format!(
                "cannot be checked: a function of `{}` panicked: {text}",
                T::shape().name
            )
        }
        Err(error) => format!("cannot be read as `{}`: {error}", T::shape().name),
    };
    found.push(Violation::new("", "with", message));
}

/// Adds the violation that a function reports for a value.
pub fn check_with<E: Display>(
    checked: Result<(), E>,
    at: &ValueLocation<'_>,
    found: &mut Vec<Violation>,
) {
    if let Err(message) = checked {
        found.push(Violation::new(at.path(), "with", message.to_string()));
    }
}

/// Checks the type of a field with rules for numbers.
pub const fn validates_number<T: ValidatesNumber>() {}

/// Checks the type of a field with rules for texts.
pub const fn validates_text<T: ValidatesText>() {}

/// Checks the type of a field with rules for lists.
pub const fn validates_list<T: ValidatesList>() {}
