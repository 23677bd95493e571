//! The locations in a document that a path through lists names.

use std::fmt;

use bson::{RawBson, RawBsonRef, RawDocument};

use odm_mql::{
    Operation, Update,
    path::{elements, get, split},
};

/// New values of fields; `None` removes one.
pub(super) type FieldValues = Vec<(String, Option<RawBson>)>;

/// The update that gives fields these values.
pub(super) fn changes(fields: FieldValues) -> Update {
    let mut update = Update::default();
    for (path, value) in fields {
        update.push(path, value.map_or(Operation::Unset, Operation::Set));
    }
    update
}

/// The location of a value in a document. It is shown as a path with the positions in lists.
#[derive(Clone, Copy)]
pub(super) enum Place<'p> {
    /// The document itself.
    Document,
    Field(&'p Place<'p>, &'p str),
    Element(&'p Place<'p>, usize),
}

impl Place<'_> {
    /// The path of a field of the document at this location.
    pub(super) fn path_of(&self, field: &str) -> String {
        Place::Field(self, field).to_string()
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Document => Ok(()),
            Place::Field(Place::Document, name) => f.write_str(name),
            Place::Field(outer, name) => write!(f, "{outer}.{name}"),
            Place::Element(outer, at) => write!(f, "{outer}.{at}"),
        }
    }
}

/// Passes each embedded document that a path names, with its location. The empty path names the document
/// itself.
pub(super) fn each_embedded<'a>(
    document: &'a RawDocument,
    within: &str,
    each: &mut dyn FnMut(&Place<'_>, &'a RawDocument),
) {
    walk(document, within, &Place::Document, each);
}

fn walk<'a>(
    document: &'a RawDocument,
    within: &str,
    place: &Place<'_>,
    each: &mut dyn FnMut(&Place<'_>, &'a RawDocument),
) {
    if within.is_empty() {
        return each(place, document);
    }
    let (name, rest) = split(within);
    let place = Place::Field(place, name);
    let rest = rest.unwrap_or_default();
    match get(document, name) {
        Some(RawBsonRef::Document(inner)) => walk(inner, rest, &place, each),
        Some(RawBsonRef::Array(list)) => {
            for (at, element) in elements(list).enumerate() {
                if let RawBsonRef::Document(inner) = element {
                    walk(inner, rest, &Place::Element(&place, at), each);
                }
            }
        }
        _ => {}
    }
}
