//! Writes of one document from which nothing follows, as a store runs them without a transaction.

use bson::{RawBson, RawDocumentBuf};
use odm_mql::{Filter, Test, Update, path};
use odm_store::{Change, SingleWrite, UpdateWrite, WriteAlone, id_first};

use super::{
    Write, base, read_only,
    unit::{Doc, Image, id},
    validation::{self, LeftBy},
    versions::{self, Earlier},
};
use crate::{
    catalog::{ActiveValidator, Catalog},
    model::DateTime,
};

/// The write of one document that a write is, if nothing follows from it and no document has to be looked at. What is wrong
/// with a write is found by the unit of work that it is otherwise.
pub(super) fn write_of(catalog: &Catalog, write: &Write) -> Option<WriteAlone> {
    if catalog.is_changing() || catalog.check_write(write.collection()).is_err() {
        return None;
    }
    let single = match write {
        Write::Insert {
            collection,
            documents,
            numbered: None,
            check_returned,
        } => {
            let inserted = inserted(catalog, collection, one(documents)?)?;
            let document = RawDocumentBuf::clone(&inserted);
            check_returned.run(&[inserted]).ok()?;
            SingleWrite::Insert {
                collection: collection.clone(),
                document,
            }
        }
        Write::Update {
            write: of_one,
            is_typed,
            returning: None,
            ..
        } => {
            let Change::Update(update) = &of_one.change else {
                return None;
            };
            read_only::check(catalog, write).ok()?;
            SingleWrite::Update(updated(catalog, of_one, update, *is_typed)?)
        }
        Write::Replace {
            collection,
            documents,
            upsert,
            is_raw: false,
            check_returned,
        } => {
            let replaced = replaced(catalog, collection, one(documents)?, *upsert)?;
            // It is stored as it was sent.
            check_returned.run(&[]).ok()?;
            SingleWrite::Update(replaced)
        }
        Write::Delete {
            write,
            returning: None,
        } if base::is_of_one(&write.filter) && !catalog.is_delete_followed(&write.collection) => {
            SingleWrite::Delete(write.clone())
        }
        _ => return None,
    };
    Some(WriteAlone {
        write: single,
        epoch: Some(catalog.epoch()),
    })
}

fn one(documents: &[Doc]) -> Option<&Doc> {
    match documents {
        [document] => Some(document),
        _ => None,
    }
}

/// The document that an insert stores.
fn inserted(catalog: &Catalog, collection: &str, document: &Doc) -> Option<Doc> {
    if catalog.is_insert_followed(collection) {
        return None;
    }
    let id = path::get(document, "_id")?;
    let document = match id_first(document, id) {
        Some(reordered) => Doc::new(reordered),
        None => document.clone(),
    };
    let (image, now) = (Image::default(), DateTime::now().into());
    let document = versions::recorded(
        catalog,
        collection,
        &Earlier::default(),
        &image,
        document,
        now,
    )
    .ok()?;
    is_valid(catalog, collection, &document).then_some(document)
}

/// Whether a document is valid whatever it was before. One that a warning may be about is left to a unit, which warns once.
fn is_valid(catalog: &Catalog, collection: &str, document: &Doc) -> bool {
    let validators = catalog.validators_of(collection);
    let mut validators = validators.iter().flat_map(|validators| validators.iter());
    if validators.any(ActiveValidator::is_warning) {
        return false;
    }
    let check = validation::check_of(catalog, collection, LeftBy::Sent);
    check.is_none_or(|check| check.run(None, document).is_ok())
}

/// The update of a document, with conditions under which it is valid after it.
fn updated(
    catalog: &Catalog,
    write: &UpdateWrite,
    update: &Update,
    is_typed: bool,
) -> Option<UpdateWrite> {
    let collection = &write.collection;
    let is_alone = base::is_of_one(&write.filter)
        && !write.upsert
        && !base::is_followed(catalog, collection, update)
        && update.check().is_ok();
    if !is_alone {
        return None;
    }
    let kept = validation::kept_by(catalog, collection, update, is_typed)?;
    Some(UpdateWrite {
        filter: write.filter.clone().and(kept),
        check: None,
        ..write.clone()
    })
}

/// The replacement of a document.
fn replaced(
    catalog: &Catalog,
    collection: &str,
    document: &Doc,
    upsert: bool,
) -> Option<UpdateWrite> {
    let is_alone =
        !catalog.is_replace_followed(collection) && is_valid(catalog, collection, document);
    is_alone.then(|| UpdateWrite {
        collection: collection.to_owned(),
        filter: Filter::Path("_id".into(), Test::Eq(RawBson::from(id(document)))),
        change: Change::Replace(RawDocumentBuf::clone(document)),
        upsert,
        check: None,
    })
}
