//! The first step of a unit: the user's own changes.

use bson::{RawBson, RawDocument, RawDocumentBuf};

use super::{
    Write, cold, repair,
    unit::{Doc, DocumentPages, Unit},
    validation, versions,
};
use crate::{
    catalog::Catalog,
    error::{Error, Result},
    mql::{Filter, Test, Update, diff, path},
    store::{Change, DeleteWrite, Find, UpdateWrite},
};

/// What the user's own write changed.
#[derive(Debug, Default)]
pub(super) struct Touched {
    /// How many documents matched.
    pub(super) matched: u64,
    /// How many of them are different now.
    pub(super) modified: u64,
    /// Whether an upsert inserted a document.
    pub(super) inserted: bool,
    /// The positions in the collection's images of those that are different, in the order of writing;
    /// none where nothing follows from the write.
    pub(super) positions: Vec<usize>,
    /// The positions of those that matched, or were inserted, where the write returns them.
    pub(super) returned: Vec<usize>,
}

impl Touched {
    pub(super) fn inserted(positions: Vec<usize>) -> Self {
        Touched {
            inserted: true,
            positions,
            ..Touched::default()
        }
    }

    /// With the documents that the write returns, if it does: those that matched before, or the inserted one.
    fn returning(mut self, matched: Option<Vec<usize>>) -> Self {
        if let Some(matched) = matched {
            self.returned = match self.inserted {
                true => self.positions.clone(),
                false => matched,
            };
        }
        self
    }

    fn changed(matched: u64, positions: Vec<usize>) -> Self {
        Touched {
            matched,
            modified: positions.len() as u64,
            positions,
            ..Touched::default()
        }
    }
}

pub(super) async fn apply(unit: &mut Unit<'_>, write: &Write) -> Result<Touched> {
    match write {
        Write::Insert {
            collection,
            documents,
            ..
        } => {
            let positions = cold::insert(unit, collection, documents).await?;
            Ok(Touched::inserted(positions))
        }
        Write::Update {
            write,
            is_typed,
            returning,
            ..
        } => match &write.change {
            Change::Update(change) => {
                let returned = match returning {
                    Some(_) => Some(cold::matching(unit, &write.collection, &write.filter).await?),
                    None => None,
                };
                let is_returning = returned.is_some();
                let touched = update(unit, write, change, *is_typed, is_returning).await?;
                Ok(touched.returning(returned))
            }
            Change::Replace(_) => statement(unit, write).await,
        },
        Write::Replace {
            collection,
            id,
            document,
            upsert,
            ..
        } => replace(unit, collection, id, document, *upsert).await,
        Write::Modify {
            collection,
            id,
            read,
            from,
            to,
            ..
        } => modify(unit, collection, id, read, (from, to)).await,
        Write::Repair { collection, ids } => repair::apply(unit, collection, ids).await,
        Write::Delete { write, returning } => delete(unit, write, returning.is_some()).await,
    }
}

/// An update from which nothing follows, which goes to the store as it is.
async fn statement(unit: &mut Unit<'_>, write: &UpdateWrite) -> Result<Touched> {
    let updated = unit.update_where(write).await?;
    Ok(Touched {
        matched: updated.matched,
        modified: updated.modified,
        inserted: updated.inserted,
        ..Touched::default()
    })
}

async fn update(
    unit: &mut Unit<'_>,
    write: &UpdateWrite,
    change: &Update,
    is_typed: bool,
    is_returning: bool,
) -> Result<Touched> {
    let (catalog, collection) = (unit.catalog, write.collection.as_str());
    change.check()?;
    // A document with pending fields is validated as it is read.
    let is_pending = !catalog.pending_in(collection).is_empty();
    let is_watched =
        is_returning || is_pending || catalog.is_update_watched(collection, change.paths());
    if !write.upsert && !is_watched {
        let write = UpdateWrite {
            check: validation::check_of(catalog, collection, is_typed),
            ..write.clone()
        };
        return statement(unit, &write).await;
    }
    if is_split(catalog, collection) {
        let touched = cold::update(unit, collection, &write.filter, change, write.upsert).await?;
        let modified = match touched.inserted {
            true => 0,
            false => touched.positions.len() as u64,
        };
        return Ok(Touched {
            modified,
            ..touched
        });
    }
    let mut pages = DocumentPages::new(Find {
        collection: collection.to_owned(),
        filter: write.filter.clone(),
        ..Find::default()
    });
    // Where the changes are recorded and nothing else, the images are of no further use.
    let is_read = is_returning || catalog.is_update_read(collection, change.paths());
    let mut touched = Touched::default();
    loop {
        let page = unit.next_page(&mut pages).await?;
        if page.is_empty() {
            break;
        }
        touched.matched += page.len() as u64;
        for at in page {
            let Some(document) = unit.document(collection, at) else {
                continue;
            };
            let after = change.apply_matched(&write.filter, document, unit.time());
            let after = after.map_err(|error| Error::of_update(collection, document, error))?;
            if let Some(after) = after
                && unit.change(collection, at, after).await?
            {
                touched.modified += 1;
                touched.positions.push(at);
            }
        }
        if !is_read && pages.has_more() {
            validation::check_positions(unit, collection, &touched.positions, is_typed)?;
            unit.forget_all(collection).await?;
            touched.positions.clear();
        }
    }
    if touched.matched == 0 && write.upsert {
        let seed = write.filter.upsert_seed()?;
        let seed = RawDocumentBuf::try_from(&seed).map_err(Error::malformed)?;
        let made = change.apply(&seed, true, unit.time())?.unwrap_or(seed);
        let at = unit.insert(collection, Doc::new(made)).await?;
        return Ok(Touched::inserted(vec![at]));
    }
    Ok(touched)
}

async fn modify(
    unit: &mut Unit<'_>,
    collection: &str,
    id: &RawBson,
    read: &RawDocument,
    (from, to): (&RawDocument, &RawDocument),
) -> Result<Touched> {
    let found = unit
        .load_existing(collection, std::slice::from_ref(id))
        .await?;
    let current = found.first().and_then(|&at| unit.document(collection, at));
    match current {
        None => return Err(Error::not_found(collection, &[id])),
        // Nothing is written yet, so the transaction can go on.
        Some(current) if ***current != *read => return Err(Error::stale(collection, id)),
        Some(_) => {}
    }
    let mut update = Update::default();
    let recorded = unit.catalog.write_fields(collection).into_iter();
    let recorded: Vec<&str> = recorded.flat_map(|fields| fields.all()).collect();
    diff::difference(&mut update, from, to, &recorded).map_err(Error::malformed)?;
    if update.is_empty() {
        return Ok(Touched {
            matched: 1,
            ..Touched::default()
        });
    }
    if is_split(unit.catalog, collection) {
        let filter = Filter::Path("_id".into(), Test::Eq(id.clone()));
        return cold::update(unit, collection, &filter, &update, false).await;
    }
    let mut positions = Vec::new();
    for at in found {
        if let Some(document) = unit.document(collection, at)
            && let Some(after) = update.apply(document, false, unit.time())?
            && unit.change(collection, at, after).await?
        {
            positions.push(at);
        }
    }
    Ok(Touched::changed(1, positions))
}

async fn replace(
    unit: &mut Unit<'_>,
    collection: &str,
    id: &RawBson,
    document: &Doc,
    upsert: bool,
) -> Result<Touched> {
    let catalog = unit.catalog;
    if !catalog.is_replace_watched(collection) {
        let write = UpdateWrite {
            collection: collection.to_owned(),
            filter: Filter::Path("_id".into(), Test::Eq(id.clone())),
            change: Change::Replace(RawDocumentBuf::clone(document)),
            upsert,
            check: validation::check_of(catalog, collection, false),
        };
        let touched = statement(unit, &write).await?;
        return match touched.matched == 0 && !touched.inserted {
            true => Err(Error::not_found(collection, &[id])),
            false => Ok(touched),
        };
    }
    let found = unit
        .load_existing(collection, std::slice::from_ref(id))
        .await?;
    if let Some(path) = catalog.version(collection) {
        let current = found.first().and_then(|&at| unit.document(collection, at));
        let is_stale = match (versions::held(document, path)?, current) {
            (Some(held), Some(current)) => held != versions::version(current, path)?,
            // The document was read, and is gone.
            (Some(held), None) => held > 0 && upsert,
            // Of a program whose model has no version, which another declares.
            (None, _) => false,
        };
        if is_stale {
            return Err(Error::stale(collection, id));
        }
    }
    let Some(&at) = found.first() else {
        if !upsert {
            return Err(Error::not_found(collection, &[id]));
        }
        let positions = cold::insert(unit, collection, std::slice::from_ref(document)).await?;
        return Ok(Touched::inserted(positions));
    };
    cold::divide_stored(unit, collection, &[at]).await?;
    let (hot, values) = catalog.divide(collection, document)?;
    unit.change(collection, at, with_stored_id(unit, collection, at, &hot)?)
        .await?;
    cold::replace(unit, id, values).await?;
    let image = unit.images(collection).at(at);
    let is_modified = image.is_changed() || image.is_touched();
    Ok(Touched {
        matched: 1,
        modified: is_modified.into(),
        inserted: false,
        positions: vec![at],
        ..Touched::default()
    })
}

/// A document that replaces another, whose `_id` it gets as it is stored, and the fields that only models of
/// other programs name: the caller could not know them.
fn with_stored_id(
    unit: &Unit<'_>,
    collection: &str,
    at: usize,
    document: &RawDocument,
) -> Result<RawDocumentBuf> {
    let stored = unit.document(collection, at);
    let mut with_id = RawDocumentBuf::new();
    if let Some(stored) = stored.and_then(|stored| path::get(stored, "_id")) {
        with_id.append(bson::raw::cstr!("_id"), stored);
    }
    for element in document {
        let (name, value) = element.map_err(Error::malformed)?;
        if name.as_str() != "_id" {
            with_id.append(name, value);
        }
    }
    if let (Some(stored), Some(unnamed)) = (stored, unit.catalog.unnamed_in(collection)) {
        for element in stored.iter() {
            let (name, value) = element.map_err(Error::malformed)?;
            if unnamed.contains(name.as_str()) && path::get(document, name.as_str()).is_none() {
                with_id.append(name, value);
            }
        }
    }
    Ok(with_id)
}

async fn delete(unit: &mut Unit<'_>, write: &DeleteWrite, is_returning: bool) -> Result<Touched> {
    let (catalog, collection) = (unit.catalog, write.collection.as_str());
    if !is_returning && !catalog.is_delete_watched(collection) {
        let deleted = unit.delete_where(write).await?;
        return Ok(Touched {
            matched: deleted.removed,
            modified: deleted.removed,
            ..Touched::default()
        });
    }
    let positions = cold::matching(unit, collection, &write.filter).await?;
    for &at in &positions {
        unit.remove(collection, at).await?;
    }
    let returned = is_returning.then(|| positions.clone());
    Ok(Touched::changed(positions.len() as u64, positions).returning(returned))
}

fn is_split(catalog: &Catalog, collection: &str) -> bool {
    catalog.splits_of(collection).next().is_some()
}
