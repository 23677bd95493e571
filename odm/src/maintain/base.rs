//! The first step of a unit: the user's own changes.

use std::borrow::Cow;

use bson::{RawBson, RawBsonRef, RawDocument};

use super::{
    Write, audit, copies, kept_fields, splits,
    unit::{Touched, Unit, by_id},
};
use crate::{
    error::{Error, ErrorKind, Result, show},
    mql::{Operation, Update},
    store::{Change, UpdateWrite},
};

pub(super) async fn apply(unit: &mut Unit<'_>, write: &Write) -> Result<Touched> {
    let catalog = unit.catalog;
    match write {
        Write::Insert {
            collection,
            documents,
        } => {
            let documents = kept_fields::first_versions(catalog, collection, documents)?;
            let documents = copies::filled(unit, collection, documents).await?;
            splits::insert(unit, collection, &documents).await
        }
        Write::Update { write, .. } => {
            let touched = splits::update(unit, write).await?;
            kept_fields::count_versions(unit, &write.collection, &touched).await?;
            Ok(touched)
        }
        Write::Replace {
            collection,
            id,
            document,
            upsert,
        } => replace(unit, collection, id, document, *upsert).await,
        Write::Modify {
            collection,
            id,
            read,
            from,
            to,
        } => {
            match unit.get(collection, id).await? {
                None => return Err(Error::not_found(collection, &[id])),
                Some(current) if current != *read => return Err(stale(collection, id)),
                Some(_) => {}
            }
            let mut update = Update::default();
            difference(&mut update, "", from, to, catalog.version(collection))?;
            if update.is_empty() {
                return Ok(Touched {
                    matched: 1,
                    ..Touched::default()
                });
            }
            let write = by_id(collection, id, Change::Update(update));
            let touched = splits::update(unit, &write).await?;
            kept_fields::count_versions(unit, collection, &touched).await?;
            Ok(touched)
        }
        Write::Repair { collection, ids } => audit::repair(unit, collection, ids).await,
        Write::Delete(write) => {
            let write = splits::delete(unit, write).await?;
            unit.delete(&write).await
        }
    }
}

async fn replace(
    unit: &mut Unit<'_>,
    collection: &str,
    id: &RawBson,
    document: &RawDocument,
    upsert: bool,
) -> Result<Touched> {
    splits::divide_stored(unit, collection, std::slice::from_ref(id)).await?;
    let (document, halves) = unit.catalog.divide(collection, document)?;
    let mut next = document;
    if let Some(path) = unit.catalog.version(collection) {
        let held = kept_fields::version(&next, path)?;
        let version = match unit.get(collection, id).await? {
            Some(current) if held != kept_fields::version(&current, path)? => {
                return Err(stale(collection, id));
            }
            Some(_) => held + 1,
            // It was read, and is gone.
            None if held > 0 && upsert => return Err(stale(collection, id)),
            None => 1,
        };
        next = Cow::Owned(kept_fields::with_version(&next, path, version)?);
    }
    let write = by_id(collection, id, Change::Replace(next.into_owned()));
    let mut touched = unit.update(&UpdateWrite { upsert, ..write }).await?;
    if touched.matched == 0 && touched.places.is_empty() {
        return Err(Error::not_found(collection, &[id]));
    }
    splits::replace(unit, id, halves, &mut touched).await?;
    Ok(touched)
}

/// What makes one document of the other, field by field, also in embedded documents. What neither
/// holds, such as a field that only a newer version of the model knows, stays as it is.
fn difference(
    update: &mut Update,
    prefix: &str,
    from: &RawDocument,
    to: &RawDocument,
    kept: Option<&str>,
) -> Result<()> {
    for element in to {
        let (name, value) = element.map_err(Error::malformed)?;
        let path = format!("{prefix}{}", name.as_str());
        let before = from.get(name.as_str()).map_err(Error::malformed)?;
        if kept == Some(&path) || before == Some(value) {
            continue;
        }
        match (before, value) {
            (Some(RawBsonRef::Document(from)), RawBsonRef::Document(to))
                if has_paths(from) && has_paths(to) =>
            {
                difference(update, &format!("{path}."), from, to, kept)?;
            }
            _ => update.push(path, Operation::Set(value.into())),
        }
    }
    for element in from {
        let (name, _) = element.map_err(Error::malformed)?;
        let path = format!("{prefix}{}", name.as_str());
        if kept != Some(&path) && to.get(name.as_str()).map_err(Error::malformed)?.is_none() {
            update.push(path, Operation::Unset);
        }
    }
    Ok(())
}

/// Whether paths lead to all fields of a document. The keys of a map can be anything.
fn has_paths(document: &RawDocument) -> bool {
    !document.is_empty()
        && document.iter_elements().flatten().all(|element| {
            let name = element.key().as_str();
            !name.is_empty() && !name.contains('.') && !name.starts_with('$')
        })
}

fn stale(collection: &str, id: &RawBson) -> Error {
    Error::new(
        ErrorKind::Stale,
        format!(
            "the document with the `_id` {} in `{collection}` was changed since it was read",
            show(id)
        ),
    )
    .at(collection, None, Some(id.clone()))
}
