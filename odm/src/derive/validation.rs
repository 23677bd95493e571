//! `#[validate(..)]`.

use std::fmt::Display;

use odm_mql::Violation;

use crate::model::{ValidatesList, ValidatesNumber, ValidatesText, ValueLocation};

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
