//! The fields in which the writes of a document are recorded: its version, which counts them, and the times of
//! its insert and of its last change.
//!
//! A write counts once for each unit that changes base data of the document, never by a refresh, and not where
//! nothing is different in the end. So these fields are a function of the images before and after a unit, and join
//! the write of the document.

use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf, raw::CStr};

use super::{
    places::{FieldValues, changes, structs},
    unit::{Doc, Image},
};
use crate::{
    catalog::Catalog,
    error::{Error, ErrorKind, Result},
    model::DateTime,
    mql::path,
};

/// Returns a document that a unit inserts or changes at a time, with its write recorded in it.
pub(super) fn recorded(
    catalog: &Catalog,
    collection: &str,
    image: &Image,
    after: Doc,
    time: bson::DateTime,
) -> Result<Doc> {
    let Some(fields) = catalog.write_fields(collection) else {
        return Ok(after);
    };
    let is_changed = match image.before() {
        None => true,
        Some(_) if image.is_touched() => true,
        Some(before) => {
            base_data(catalog, collection, before)? != base_data(catalog, collection, &after)?
        }
    };
    let stored = |path: &str| -> Option<RawBson> {
        let before = image.held()?;
        path::get(before, path).map(RawBson::from)
    };
    // What is recorded in a document that was stored elsewhere stays: that it is stored here is no change of it.
    let is_moved = image.before().is_none() && image.moved().is_some();
    let mut values: Vec<(&str, Option<RawBson>)> = Vec::new();
    if let Some(path) = &fields.version {
        let version = match (image.before(), image.moved()) {
            (None, None) => 1,
            (None, Some(moved)) => held(moved, path)?.unwrap_or(1),
            (Some(before), _) => version(before, path)? + i64::from(is_changed),
        };
        values.push((path, Some(integer(&after, path, version))));
    }
    if let Some(path) = &fields.created_at {
        let created = match image.held() {
            None => Some(time.into()),
            // It is not known of a document from before the field was declared.
            Some(_) => stored(path),
        };
        values.push((path, created));
    }
    if let Some(path) = &fields.updated_at {
        let updated = match is_changed && !is_moved {
            true => Some(time.into()),
            false => stored(path),
        };
        values.push((path, updated));
    }
    with_values(&after, &values).map(Doc::new)
}

/// Whether the unit has changed base data of a document.
pub(super) fn is_base_changed(catalog: &Catalog, collection: &str, image: &Image) -> Result<bool> {
    let base = |document: &Doc| base_data(catalog, collection, document);
    Ok(image.before().map(base).transpose()? != image.now().map(base).transpose()?)
}

/// The document without its derived fields and those in which its writes are recorded.
fn base_data(
    catalog: &Catalog,
    collection: &str,
    document: &RawDocument,
) -> Result<RawDocumentBuf> {
    let recorded = catalog.write_fields(collection).into_iter();
    let recorded = recorded.flat_map(|fields| fields.all());
    let recorded = recorded.map(|path| (path.to_owned(), None)).collect();
    without(catalog, collection, document, recorded)
}

/// A stored document without its derived fields.
pub(crate) fn without_derived(
    catalog: &Catalog,
    collection: &str,
    document: &RawDocument,
) -> Result<RawDocumentBuf> {
    without(catalog, collection, document, FieldValues::new())
}

/// The document without its derived fields and some others.
fn without(
    catalog: &Catalog,
    collection: &str,
    document: &RawDocument,
    mut fields: FieldValues,
) -> Result<RawDocumentBuf> {
    for field in catalog.derived_in(collection) {
        let path = field.path();
        let (within, name) = path.rsplit_once('.').unwrap_or(("", &path));
        structs(document, within, &mut |place, inner| {
            if path::get(inner, name).is_some() {
                fields.push((place.path_of(name), None));
            }
        });
    }
    let left = changes(fields).apply(document, false, DateTime::now().into())?;
    Ok(left.unwrap_or_else(|| document.to_owned()))
}

/// Reads the version of a stored document: 0 in one from before the model had a version.
pub(super) fn version(document: &RawDocument, path: &str) -> Result<i64> {
    held(document, path).map(Option::unwrap_or_default)
}

/// Reads the version that a document holds.
pub(super) fn held(document: &RawDocument, path: &str) -> Result<Option<i64>> {
    match path::get(document, path) {
        Some(RawBsonRef::Int64(version)) => Ok(Some(version)),
        Some(RawBsonRef::Int32(version)) => Ok(Some(version.into())),
        None => Ok(None),
        Some(_) => Err(Error::new(
            ErrorKind::Decode,
            format!("unreadable version: `{path}` of a document is no integer; set it to one"),
        )),
    }
}

/// A version, of the type that the document holds.
fn integer(document: &RawDocument, path: &str, version: i64) -> RawBson {
    match (path::get(document, path), i32::try_from(version)) {
        (Some(RawBsonRef::Int32(_)), Ok(version)) => version.into(),
        _ => version.into(),
    }
}

/// The document with these values of its fields, in their positions; without those that have none.
fn with_values(
    document: &RawDocument,
    values: &[(&str, Option<RawBson>)],
) -> Result<RawDocumentBuf> {
    let mut next = RawDocumentBuf::new();
    let mut is_missing = vec![true; values.len()];
    for element in document {
        let (name, value) = element.map_err(Error::malformed)?;
        match values.iter().position(|(path, _)| *path == name.as_str()) {
            None => next.append(name, value),
            Some(at) => {
                is_missing[at] = false;
                if let Some(value) = &values[at].1 {
                    next.append(name, value.as_raw_bson_ref());
                }
            }
        }
    }
    for ((path, value), is_missing) in values.iter().zip(is_missing) {
        if let (true, Some(value)) = (is_missing, value) {
            let key = <&CStr>::try_from(*path).map_err(Error::malformed)?;
            next.append(key, value.as_raw_bson_ref());
        }
    }
    Ok(next)
}
