//! Fields that the library keeps and no write may set: subsets, and the version of a document.

use std::borrow::Cow;

use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf, raw::CStr};

use super::{
    Write,
    unit::{Touched, Unit, id},
};
use crate::{
    catalog::Catalog,
    error::{Error, ErrorKind, Result},
    mql::path,
    store::{Change, UpdateWrite},
};

/// Refuses an update that names a field which the library keeps.
///
/// A whole value is no such update: what it has in that field is left aside.
pub(super) fn check(catalog: &Catalog, write: &Write) -> Result<()> {
    let Write::Update { write, .. } = write else {
        return Ok(());
    };
    let UpdateWrite {
        collection,
        change: Change::Update(update),
        ..
    } = write
    else {
        return Ok(());
    };
    // A whole value that a kept field is in may be set: what it has there is left aside.
    let touched = |kept: &str| {
        update.paths().find(|path| {
            let path = names(path);
            path::overlap(&path, kept) && path.len() >= kept.len()
        })
    };
    for (kept, source) in catalog.kept_in(collection) {
        let seeds = |path: &&&str| path::overlap(&names(path), &kept);
        if let Some(path) = write
            .filter
            .paths()
            .iter()
            .filter(|_| write.upsert)
            .find(seeds)
        {
            let message = format!(
                "`{path}` of `{collection}` is kept from `{source}`, and so an upsert cannot ask for \
                 it: what it inserts could not have it"
            );
            return Err(Error::new(ErrorKind::InvalidQuery, message).at(
                collection,
                Some(path),
                None,
            ));
        }
        if let Some(path) = touched(&kept) {
            let message = format!(
                "`{path}` of `{collection}` is kept from `{source}` and cannot be updated: change the \
                 documents there"
            );
            return Err(Error::new(ErrorKind::InvalidQuery, message).at(
                collection,
                Some(path),
                None,
            ));
        }
    }
    let Some(version) = catalog.version(collection) else {
        return Ok(());
    };
    match touched(version) {
        None => Ok(()),
        Some(path) => Err(Error::new(
            ErrorKind::InvalidQuery,
            format!(
                "`{path}` of `{collection}` counts the changes by itself and cannot be updated"
            ),
        )
        .at(collection, Some(path), None)),
    }
}

/// A path without the positions in lists.
fn names(path: &str) -> String {
    let names = path
        .split('.')
        .filter(|step| !step.starts_with("$[") && path::position(step).is_none());
    names.collect::<Vec<_>>().join(".")
}

/// The documents with the version of what is new.
pub(super) fn first_versions<'a>(
    catalog: &Catalog,
    collection: &str,
    documents: &'a [RawDocumentBuf],
) -> Result<Cow<'a, [RawDocumentBuf]>> {
    match catalog.version(collection) {
        None => Ok(Cow::Borrowed(documents)),
        Some(path) => documents
            .iter()
            .map(|document| with_version(document, path, 1))
            .collect(),
    }
}

/// Counts the changes of an update: one for each document that is different now.
pub(super) async fn count_versions(
    unit: &mut Unit<'_>,
    collection: &str,
    touched: &Touched,
) -> Result<()> {
    let Some(path) = unit.catalog.version(collection) else {
        return Ok(());
    };
    for &place in &touched.places {
        let effect = &unit.changes.of(collection)[place];
        let Some(after) = &effect.after else { continue };
        let version = next_version(effect.before.as_deref(), after, path)?;
        let (id, fields) = (id(after).into(), vec![(path.to_owned(), Some(version))]);
        unit.set(collection, &id, fields).await?;
    }
    Ok(())
}

/// What the version of a document becomes in a unit, of the type that is stored.
pub(super) fn next_version(
    before: Option<&RawDocument>,
    now: &RawDocument,
    path: &str,
) -> Result<RawBson> {
    let next = match before {
        Some(before) => version(before, path)? + 1,
        None => 1,
    };
    Ok(match (path::get(now, path), i32::try_from(next)) {
        (Some(RawBsonRef::Int32(_)), Ok(next)) => RawBson::Int32(next),
        _ => RawBson::Int64(next),
    })
}

/// The version that a document holds.
pub(super) fn version(document: &RawDocument, path: &str) -> Result<i64> {
    match document.get(path).ok().flatten() {
        Some(RawBsonRef::Int64(version)) => Ok(version),
        Some(RawBsonRef::Int32(version)) => Ok(version.into()),
        // A document from before the model had a version.
        None => Ok(0),
        Some(_) => Err(Error::new(
            ErrorKind::Decode,
            format!("the version of a document, `{path}`, is not an integer"),
        )),
    }
}

/// The document with another version, in the same place and of the same type.
pub(super) fn with_version(
    document: &RawDocument,
    path: &str,
    version: i64,
) -> Result<RawDocumentBuf> {
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
