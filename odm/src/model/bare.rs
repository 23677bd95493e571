//! The model of a document that declares nothing but its fields: the schema and the checks of its type.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bson::RawDocument;
use odm_mql::Violation;
use serde::de::DeserializeOwned;

use super::{
    Check, Document, Model, SchemaTypes, Structure, Validation, ValidationAction, ValidationLevel,
    ValueLocation, check_readable, read,
};

/// A model that declares nothing but its fields.
pub const fn bare_model<T: Document>() -> Model {
    Model {
        name: T::NAME,
        collection: T::COLLECTION,
        shape: T::shape,
        indexes: &[],
        expires: None,
        id_of_number: None,
        version: None,
        created_at: None,
        updated_at: None,
        schema: schema_of::<T>,
        validation: Validation {
            level: ValidationLevel::Strict,
            action: ValidationAction::Error,
            schema: None,
            check: check_of::<T>,
        },
        renamed: &[],
        readable: check_readable::<T>,
    }
}

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
