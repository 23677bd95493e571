//! The locations in a document that a path through lists names.

use bson::{RawBson, RawBsonRef, RawDocument};

use crate::{
    catalog::join,
    mql::{
        Operation, Update,
        path::{get, split},
    },
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

/// Passes each embedded document that a path names, with its own path: that with the positions
/// in lists. The empty path names the document itself.
pub(super) fn structs<'a>(
    document: &'a RawDocument,
    within: &str,
    each: &mut impl FnMut(String, &'a RawDocument),
) {
    walk(document, within, String::new(), each);
}

fn walk<'a>(
    document: &'a RawDocument,
    within: &str,
    place: String,
    each: &mut impl FnMut(String, &'a RawDocument),
) {
    if within.is_empty() {
        return each(place, document);
    }
    let (name, rest) = split(within);
    let place = join(&place, name);
    let rest = rest.unwrap_or_default();
    match get(document, name) {
        Some(RawBsonRef::Document(inner)) => walk(inner, rest, place, each),
        Some(RawBsonRef::Array(list)) => {
            for (at, element) in list.into_iter().flatten().enumerate() {
                if let RawBsonRef::Document(inner) = element {
                    walk(inner, rest, format!("{place}.{at}"), each);
                }
            }
        }
        _ => {}
    }
}
