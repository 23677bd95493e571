//! Derived fields and the fields that record writes are read-only: no update names them. So are collections of cold parts.

use odm_mql::{Filter, path};
use odm_store::{Error, ErrorKind, Result};

use super::write::{OnConflict, Write};
use crate::catalog::{Catalog, without_positions};

/// Refuses a write to a collection of cold parts.
pub(super) fn check_collection(catalog: &Catalog, collection: &str) -> Result<()> {
    let Some(split) = catalog.split_in(collection) else {
        return Ok(());
    };
    let message = format!(
        "collection `{}` has the cold parts of `{}`, which are written with their documents: write to `{}`",
        split.cold, split.hot, split.hot
    );
    Err(Error::new(ErrorKind::InvalidQuery, message).at(&split.cold, None, None))
}

/// Refuses an update that names a read-only field, and a write to a collection of cold parts.
///
/// An update may set a value that encloses such a field: the field in it is ignored, and computed.
pub(super) fn check(catalog: &Catalog, write: &Write) -> Result<()> {
    if !matches!(write, Write::Repair { .. }) {
        check_collection(catalog, write.collection())?;
    }
    // A document that an upsert inserts must match its filter.
    let (named, upsert) = match write {
        Write::Update {
            target,
            change,
            upsert,
            ..
        } => (change.paths(), upsert.then(|| target.condition())),
        Write::UpsertBy {
            key, on_conflict, ..
        } => match on_conflict {
            OnConflict::Update { change, .. } => (change.paths().collect(), Some(key)),
            OnConflict::Replace | OnConflict::Keep => (Vec::new(), Some(key)),
        },
        _ => return Ok(()),
    };
    let collection = write.collection();
    let refuse = |path: &str, message: String| {
        Err(Error::new(ErrorKind::InvalidQuery, message).at(collection, Some(path), None))
    };
    for (field, source) in catalog.read_only_in(collection) {
        let asked = upsert.map(Filter::paths).unwrap_or_default();
        let seeds = |path: &&&str| path::overlap(&without_positions(path), &field);
        if let Some(path) = asked.iter().find(seeds) {
            return refuse(
                path,
                format!(
                    "derived field: an upsert cannot filter by `{collection}.{path}`, which is computed \
                     from `{source}`, since a document that it inserts could not have it; filter by \
                     `_id`"
                ),
            );
        }
        if let Some(path) = naming(&named, &field) {
            return refuse(
                path,
                format!(
                    "derived field: `{collection}.{path}` is computed from `{source}` and cannot be \
                     updated; change the fields there that it is computed from"
                ),
            );
        }
    }
    let Some(fields) = catalog.write_fields(collection) else {
        return Ok(());
    };
    if let Some(path) = fields.version.as_deref().and_then(|of| naming(&named, of)) {
        return refuse(
            path,
            format!(
                "read-only field: `{collection}.{path}` is the version, which is incremented \
                 automatically and cannot be updated; leave it out"
            ),
        );
    }
    match fields.times().find_map(|time| naming(&named, time)) {
        None => Ok(()),
        Some(path) => refuse(
            path,
            format!(
                "read-only field: `{collection}.{path}` is the time of a write, which is set \
                 automatically and cannot be updated; leave it out"
            ),
        ),
    }
}

/// The named path that is the field or in it. The path of an enclosing value is shorter.
fn naming<'p>(named: &[&'p str], field: &str) -> Option<&'p str> {
    named.iter().copied().find(|path| {
        let path = without_positions(path);
        path::overlap(&path, field) && path.len() >= field.len()
    })
}
