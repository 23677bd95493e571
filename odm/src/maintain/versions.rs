//! The fields that record the writes of a document: its version, which counts them, and the times of its insert and of its last
//! change.
//!
//! A unit counts as one write of a document if the base data of the document is different after the unit; a refresh alone does
//! not count. So these fields are a function of the images before and after a unit, and join the write of the document. The
//! writes of a bulk count as one unit.

use std::collections::HashMap;

use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf, raw::CStr};
use odm_mql::{key, path};
use odm_store::{Error, ErrorKind, Result, mutants::mutant};

use super::{
    places::{FieldValues, changes, each_embedded},
    unit::{Digest, Doc, Image, Images},
};
use crate::{
    catalog::{Catalog, DerivedField},
    model::DateTime,
};

/// The documents that earlier pages of a unit, or earlier writes of the same commit, have changed, and that the unit does not
/// hold any more, in collections whose writes are recorded.
#[derive(Debug, Default)]
pub(crate) struct Earlier(HashMap<String, HashMap<Vec<u8>, EarlierImage>>);

/// A document before the unit, as far as the record of its write needs it.
#[derive(Debug)]
struct EarlierImage {
    /// `None` if it did not exist.
    before: Option<DocumentBefore>,
    is_touched: bool,
}

#[derive(Debug)]
struct DocumentBefore {
    base_data: Digest,
    /// The fields that record its writes.
    recorded: RawDocumentBuf,
}

impl Earlier {
    /// Adds the changed documents of a collection that exist.
    pub(super) fn add(
        &mut self,
        catalog: &Catalog,
        collection: &str,
        images: &Images,
    ) -> Result<()> {
        let Some(fields) = catalog.write_fields(collection) else {
            return Ok(());
        };
        for (key, image) in images.by_key() {
            if !image.is_changed() && !image.is_touched() {
                continue;
            }
            let of_collection = self.0.entry(collection.to_owned()).or_default();
            if image.now().is_none() {
                // If it comes back, it is a new document.
                of_collection.remove(key);
                continue;
            }
            if let Some(earlier) = of_collection.get_mut(key) {
                earlier.is_touched |= image.is_touched();
                continue;
            }
            let before = image.before().map(|before| -> Result<DocumentBefore> {
                let mut recorded = RawDocumentBuf::new();
                for path in fields.all() {
                    if let Some(value) = path::get(before, path) {
                        let path = <&CStr>::try_from(path).map_err(Error::malformed)?;
                        recorded.append(path, value);
                    }
                }
                Ok(DocumentBefore {
                    base_data: Digest::of(&base_data(catalog, collection, before)?),
                    recorded,
                })
            });
            let earlier = EarlierImage {
                before: before.transpose()?,
                is_touched: image.is_touched(),
            };
            of_collection.insert(key.to_owned(), earlier);
        }
        Ok(())
    }

    fn of(&self, collection: &str, image: &Image) -> Option<&EarlierImage> {
        let of_collection = self.0.get(collection)?;
        let id = path::get(image.before()?, "_id")?;
        of_collection.get(&key::of(id))
    }
}

/// Returns a document that a unit inserts or changes at a time, with its write recorded in it. The unit begins with the
/// earlier writes.
pub(super) fn recorded(
    catalog: &Catalog,
    collection: &str,
    earlier: &Earlier,
    image: &Image,
    after: Doc,
    time: bson::DateTime,
) -> Result<Doc> {
    let Some(fields) = catalog.write_fields(collection) else {
        return Ok(after);
    };
    let earlier = earlier.of(collection, image);
    // The fields of the document before the unit.
    let before: Option<&RawDocument> = match earlier {
        Some(earlier) => earlier.before.as_ref().map(|before| &*before.recorded),
        None => image.before().map(|before| &***before),
    };
    let is_touched = image.is_touched() || earlier.is_some_and(|earlier| earlier.is_touched);
    let base = |document: &RawDocument| base_data(catalog, collection, document);
    let is_changed = match (earlier, before) {
        (_, None) => true,
        (_, Some(_)) if is_touched || mutant("version of no change") => true,
        (
            Some(EarlierImage {
                before: Some(before),
                ..
            }),
            _,
        ) => before.base_data != Digest::of(&base(&after)?),
        (_, Some(before)) => base(before)? != base(&after)?,
    };
    let stored = |path: &str| -> Option<RawBson> {
        let before = before.or(image.before_or_origin().map(|stored| &***stored))?;
        path::get(before, path).map(RawBson::from)
    };
    // A document that was stored elsewhere keeps its recorded writes: storing it here does not change it.
    let has_origin = image.origin().is_some() && !mutant("times of an import");
    let has_origin = image.before().is_none() && has_origin;
    let mut values: Vec<(&str, Option<RawBson>)> = Vec::new();
    if let Some(path) = &fields.version {
        let version = match (before, image.origin()) {
            (None, None) => i64::from(!mutant("first version")),
            (None, Some(_)) if mutant("version of an import") => 1,
            (None, Some(origin)) => origin_version(collection, origin, path)?,
            (Some(before), _) => match (
                version(collection, before, path)?,
                is_changed && !mutant("version"),
            ) {
                (version, false) => version,
                (version, true) => {
                    let next = version.checked_add(1);
                    next.ok_or_else(|| used_up(collection, &after, path))?
                }
            },
        };
        values.push((path, Some(integer(&after, path, version))));
    }
    if let Some(path) = &fields.created_at {
        let created = match image.before_or_origin() {
            None if !mutant("created_at") => Some(time.into()),
            // The time of an insert before the field was declared is not known.
            _ => stored(path),
        };
        values.push((path, created));
    }
    if let Some(path) = &fields.updated_at {
        let updated = if is_changed && !has_origin && !mutant("updated_at") {
            Some(time.into())
        } else {
            stored(path)
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

/// The document without its derived fields and the fields that record its writes.
fn base_data(
    catalog: &Catalog,
    collection: &str,
    document: &RawDocument,
) -> Result<RawDocumentBuf> {
    let recorded = catalog.write_fields(collection).into_iter();
    let recorded = recorded.flat_map(|fields| fields.all());
    let recorded = recorded.map(|path| (path.to_owned(), None)).collect();
    without(catalog.derived_in(collection), document, recorded)
}

/// A stored document with its base data, and the derived fields that an import takes from documents.
pub(crate) fn importable(
    catalog: &Catalog,
    collection: &str,
    document: &RawDocument,
) -> Result<RawDocumentBuf> {
    let computed = catalog
        .derived_in(collection)
        .filter(|field| !field.is_of_history() || catalog.is_pending(collection, &field.path()));
    without(computed, document, FieldValues::new())
}

/// The document without these derived fields and some others.
fn without<'c>(
    derived: impl Iterator<Item = &'c DerivedField>,
    document: &RawDocument,
    mut fields: FieldValues,
) -> Result<RawDocumentBuf> {
    for field in derived {
        let path = field.path();
        let (within, name) = path.rsplit_once('.').unwrap_or(("", &path));
        each_embedded(document, within, &mut |place, inner| {
            if path::get(inner, name).is_some() {
                fields.push((place.path_of(name), None));
            }
        });
    }
    let left = changes(fields).apply(document, false, DateTime::now().into())?;
    Ok(left.unwrap_or_else(|| document.to_owned()))
}

/// Reads the version of a stored document: 0 if it is from before the model had a version.
pub(super) fn version(collection: &str, document: &RawDocument, path: &str) -> Result<i64> {
    version_in(collection, document, path).map(Option::unwrap_or_default)
}

/// Reads the version in a document, if it has one.
pub(super) fn version_in(
    collection: &str,
    document: &RawDocument,
    path: &str,
) -> Result<Option<i64>> {
    match path::get(document, path) {
        Some(RawBsonRef::Int64(version)) => Ok(Some(version)),
        Some(RawBsonRef::Int32(version)) => Ok(Some(version.into())),
        None => Ok(None),
        Some(_) => {
            let message =
                format!("unreadable version: `{path}` of a document is no integer; set it to one");
            Err(located(
                Error::new(ErrorKind::Decode, message),
                collection,
                document,
                path,
            ))
        }
    }
}

/// The version of a document that was stored elsewhere before. It must have a successor.
fn origin_version(collection: &str, document: &RawDocument, path: &str) -> Result<i64> {
    match version_in(collection, document, path)?.unwrap_or(1) {
        version if (0..i64::MAX).contains(&version) => Ok(version),
        version => {
            let message = format!(
                "invalid version: `{path}` is {version}; set it to a number from 1 to {}",
                i64::MAX - 1
            );
            Err(located(
                Error::new(ErrorKind::Invalid, message),
                collection,
                document,
                path,
            ))
        }
    }
}

/// The error of a change of a document whose version has no successor.
#[cold]
fn used_up(collection: &str, document: &RawDocument, path: &str) -> Error {
    let message = format!(
        "version used up: `{path}` of the document is {}, and no greater one can be stored; export the document, set its \
         version to a lower one, and import it in its place",
        i64::MAX
    );
    located(
        Error::new(ErrorKind::Limit, message),
        collection,
        document,
        path,
    )
}

fn located(error: Error, collection: &str, document: &RawDocument, path: &str) -> Error {
    let id = path::get(document, "_id").map(RawBson::from);
    error.at(collection, Some(path), id)
}

/// A version as an integer of the type that the document holds.
fn integer(document: &RawDocument, path: &str, version: i64) -> RawBson {
    match (path::get(document, path), i32::try_from(version)) {
        (Some(RawBsonRef::Int32(_)), Ok(version)) => version.into(),
        _ => version.into(),
    }
}

/// The document with these values of fields, each at its position; a field whose value is `None` is removed.
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
