//! Versions: how often the base data of a document has changed.
//!
//! A version changes once for each unit that changes base data of its document, never by a refresh,
//! and not where nothing is different in the end. So the version after a unit is a function of the
//! images before and after it, and joins the write of the document.

use bson::{RawBsonRef, RawDocument, RawDocumentBuf, raw::CStr};

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

/// Returns a changed document with the version that it has after the unit.
pub(super) fn versioned(
    catalog: &Catalog,
    collection: &str,
    image: &Image,
    after: Doc,
) -> Result<Doc> {
    let Some(path) = catalog.version(collection) else {
        return Ok(after);
    };
    let version = match image.before() {
        None => 1,
        Some(before) => {
            let is_changed = image.is_touched()
                || base_data(catalog, collection, before)?
                    != base_data(catalog, collection, &after)?;
            version(before, path)? + i64::from(is_changed)
        }
    };
    with_version(&after, path, version).map(Doc::new)
}

/// Whether the unit has changed base data of a document.
pub(super) fn is_base_changed(catalog: &Catalog, collection: &str, image: &Image) -> Result<bool> {
    let base = |document: &Doc| base_data(catalog, collection, document);
    Ok(image.before().map(base).transpose()? != image.now().map(base).transpose()?)
}

/// The document without its version and its derived fields.
fn base_data(
    catalog: &Catalog,
    collection: &str,
    document: &RawDocument,
) -> Result<RawDocumentBuf> {
    let version = catalog.version(collection);
    let mut fields: FieldValues = version
        .map(|version| (version.to_owned(), None))
        .into_iter()
        .collect();
    for field in catalog.derived_in(collection) {
        let path = field.path();
        let (within, name) = path.rsplit_once('.').unwrap_or(("", &path));
        structs(document, within, &mut |place, inner| {
            if path::get(inner, name).is_some() {
                fields.push((place.path_of(name), None));
            }
        });
    }
    let base = changes(fields).apply(document, false, DateTime::now().into())?;
    Ok(base.unwrap_or_else(|| document.to_owned()))
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

/// The document with another version, in the same position and of the same type.
fn with_version(document: &RawDocument, path: &str, version: i64) -> Result<RawDocumentBuf> {
    let key = <&CStr>::try_from(path).map_err(Error::malformed)?;
    let mut next = RawDocumentBuf::new();
    let mut found = false;
    for element in document {
        let (name, value) = element.map_err(Error::malformed)?;
        if name.as_str() == path {
            found = true;
            match (value, i32::try_from(version)) {
                (RawBsonRef::Int32(_), Ok(version)) => next.append(name, version),
                _ => next.append(name, version),
            }
        } else {
            next.append(name, value);
        }
    }
    if !found {
        next.append(key, version);
    }
    Ok(next)
}
