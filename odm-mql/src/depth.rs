//! The greatest depth of documents and of values that are computed.

use bson::{RawBson, RawBsonRef, RawDocument};

use crate::{Error, path};

/// The greatest depth of a document.
const MAX_DEPTH: usize = 200;

/// The fewest bytes of a level: a type, the end of a name, a length and an end.
const MIN_LEVEL: usize = 7;

/// Checks the depth of a document.
pub(super) fn check(document: &RawDocument) -> Result<(), Error> {
    let is_long = document.as_bytes().len() > MAX_DEPTH * MIN_LEVEL;
    match is_long && !is_within(document, MAX_DEPTH) {
        true => Err(Error::ResultTooDeep(MAX_DEPTH)),
        false => Ok(()),
    }
}

/// Checks the depth of a value.
pub(super) fn check_value(value: &RawBson) -> Result<(), Error> {
    match value {
        RawBson::Document(document) => check(document),
        // Its elements are the fields of a document.
        RawBson::Array(array) => RawDocument::from_bytes(array.as_bytes()).map_or(Ok(()), check),
        _ => Ok(()),
    }
}

/// Whether a document has at most so many levels, itself included.
fn is_within(document: &RawDocument, levels: usize) -> bool {
    let Some(levels) = levels.checked_sub(1) else {
        return false;
    };
    path::fields(document).all(|(_, value)| match value {
        RawBsonRef::Document(inner) => is_within(inner, levels),
        RawBsonRef::Array(array) => RawDocument::from_bytes(array.as_bytes())
            .is_ok_and(|elements| is_within(elements, levels)),
        _ => true,
    })
}
