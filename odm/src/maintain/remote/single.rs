//! Writes of one document without consequences, as a store runs them without a transaction.

use bson::RawDocumentBuf;
use odm_mql::{Update, path};
use odm_store::{Change, DeleteWrite, SingleWrite, SingleWriteRequest, UpdateWrite, id_first};

use crate::{
    catalog::{ActiveValidator, Catalog},
    maintain::{
        base,
        pipeline::Work,
        read_only,
        unit::{Doc, Image, id},
        validation::{self, LeftBy},
        versions::{self, Earlier},
        write::{Write, WriteChange, WriteTarget},
    },
    model::DateTime,
};

/// A write as one statement of the store, if it has no consequences and no document has to be read. `None` for an invalid
/// write too: the unit of work that runs in its place finds the error.
pub(in crate::maintain) fn write_of(
    catalog: &Catalog,
    write: &Write,
) -> Option<SingleWriteRequest> {
    if write.bypasses_rule()
        || catalog.is_changing()
        || catalog.check_write(write.collection()).is_err()
    {
        return None;
    }
    let single = match write {
        Write::Insert {
            collection,
            documents,
            numbering,
            check_returned,
            ..
        } => {
            if numbering.iter().any(|of| of.applies(catalog, collection)) {
                return None;
            }
            let inserted = inserted(catalog, collection, one(documents)?)?;
            let document = RawDocumentBuf::clone(&inserted);
            check_returned.run(&[inserted]).ok()?;
            SingleWrite::Insert {
                collection: collection.clone(),
                document,
            }
        }
        Write::Update {
            collection,
            target: target @ WriteTarget::One { .. },
            change: WriteChange::Update(change),
            upsert: false,
            is_typed,
            returning: None,
            ..
        } => {
            read_only::check(catalog, write).ok()?;
            SingleWrite::Update(updated(catalog, collection, target, change, *is_typed)?)
        }
        Write::Replace {
            collection,
            documents,
            upsert,
            is_raw: false,
            check_returned,
        } => {
            let replaced = replaced(catalog, collection, one(documents)?, *upsert)?;
            // The document is stored as it was sent.
            check_returned.run(&[]).ok()?;
            SingleWrite::Update(replaced)
        }
        Write::Delete {
            collection,
            target: target @ WriteTarget::One { .. },
            returning: None,
            ..
        } if !catalog.is_delete_followed(collection) => SingleWrite::Delete(DeleteWrite {
            collection: collection.clone(),
            filter: target.filter(),
        }),
        _ => return None,
    };
    Some(SingleWriteRequest {
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

/// Whether a document is valid whatever it was before. `false` if a validator may warn: a unit then validates the document, and
/// warns once.
fn is_valid(catalog: &Catalog, collection: &str, document: &Doc) -> bool {
    let validators = catalog.validators_of(collection);
    let mut validators = validators.iter().flat_map(|validators| validators.iter());
    if validators.any(ActiveValidator::is_warning) {
        return false;
    }
    let check = validation::check_of(catalog, collection, LeftBy::Sent);
    check.is_none_or(|check| check.run(None, document).is_ok())
}

/// The update of a document, with conditions under which the updated document is valid.
fn updated(
    catalog: &Catalog,
    collection: &str,
    target: &WriteTarget,
    update: &Update,
    is_typed: bool,
) -> Option<UpdateWrite> {
    if base::is_followed(catalog, collection, update) || update.check().is_err() {
        return None;
    }
    let kept = validation::kept_by(catalog, collection, update, is_typed)?;
    Some(UpdateWrite {
        collection: collection.to_owned(),
        filter: target.filter().and(kept),
        change: Change::Update(update.clone()),
        upsert: false,
        check: None,
    })
}

/// The replacement of a document.
fn replaced(
    catalog: &Catalog,
    collection: &str,
    document: &Doc,
    upsert: bool,
) -> Option<UpdateWrite> {
    let is_single =
        !catalog.is_replace_followed(collection) && is_valid(catalog, collection, document);
    is_single.then(|| UpdateWrite {
        collection: collection.to_owned(),
        filter: WriteTarget::one(id(document).into()).filter(),
        change: Change::Replace(RawDocumentBuf::clone(document)),
        upsert,
        check: None,
    })
}
