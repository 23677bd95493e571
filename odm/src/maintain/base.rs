//! The first step of a unit: the user's own changes.

use std::collections::HashSet;

use bson::{RawBson, RawDocument, RawDocumentBuf};
use odm_mql::{Filter, Test, Update, diff, key, path};
use odm_store::{Change, DeleteWrite, Error, ErrorKind, Find, Result, UpdateWrite, show};

use super::{
    Found, IdOfNumber, Write, cold, repair, sequence,
    unit::{Doc, DocumentPages, Unit, id},
    validation::{self, LeftBy},
    versions,
};
use crate::catalog::Catalog;

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
            numbered,
            ..
        } => {
            let documents = sequence::numbered(unit, collection, documents, *numbered).await?;
            let positions = cold::insert(unit, collection, &documents).await?;
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
            documents,
            upsert,
            is_raw,
            ..
        } => replace(unit, collection, documents, *upsert, *is_raw).await,
        Write::UpsertBy {
            collection,
            key,
            document,
            numbered,
            found,
            ..
        } => upsert_by(unit, collection, key, (document, *numbered), found).await,
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

/// Whether something follows from an update.
pub(super) fn is_followed(catalog: &Catalog, collection: &str, change: &Update) -> bool {
    // A document with pending fields is validated as it is read.
    !catalog.pending_in(collection).is_empty()
        || catalog.is_update_followed(collection, change.paths())
}

/// Whether a change waits for others of its unit, or has to see some that wait: since it may take a key of a unique index that
/// another document gives up. One document alone takes none from itself.
fn has_to_wait(
    unit: &Unit<'_>,
    collection: &str,
    is_of_one: bool,
    takes_keys: impl FnOnce() -> bool,
) -> bool {
    let is_alone = is_of_one && !unit.is_part;
    unit.has_queued(collection) || (!is_alone && takes_keys())
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
    let is_followed = is_returning
        || unit.has_watchers(collection)
        || is_followed(catalog, collection, change)
        || has_to_wait(unit, collection, is_of_one(&write.filter), || {
            catalog.is_unique_updated(collection, change.paths())
        });
    if !write.upsert && !is_followed {
        let write = UpdateWrite {
            check: validation::check_of(catalog, collection, LeftBy::update(is_typed)),
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
            validation::check_positions(
                unit,
                collection,
                &touched.positions,
                LeftBy::update(is_typed),
            )?;
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
        return Ok(Touched::changed(1, Vec::new()).returning(Some(found)));
    }
    if is_split(unit.catalog, collection) {
        let filter = Filter::Path("_id".into(), Test::Eq(id.clone()));
        let touched = cold::update(unit, collection, &filter, &update, false).await?;
        return Ok(touched.returning(Some(found)));
    }
    let mut positions = Vec::new();
    for &at in &found {
        if let Some(document) = unit.document(collection, at)
            && let Some(after) = update.apply(document, false, unit.time())?
            && unit.change(collection, at, after).await?
        {
            positions.push(at);
        }
    }
    Ok(Touched::changed(1, positions).returning(Some(found)))
}

async fn replace(
    unit: &mut Unit<'_>,
    collection: &str,
    documents: &[Doc],
    upsert: bool,
    is_raw: bool,
) -> Result<Touched> {
    let ids: Vec<RawBson> = documents.iter().map(|sent| id(sent).into()).collect();
    let mut keys = HashSet::new();
    if let Some(twice) = ids
        .iter()
        .find(|id| !keys.insert(key::of(id.as_raw_bson_ref())))
    {
        let message = format!(
            "`{collection}` would get two documents with the `_id` {}: leave one out",
            show(twice)
        );
        let error = Error::new(ErrorKind::InvalidQuery, message);
        return Err(error.at(collection, Some("_id"), Some(twice.clone())));
    }
    let catalog = unit.catalog;
    let is_followed = is_raw
        || unit.has_watchers(collection)
        || catalog.is_replace_followed(collection)
        || has_to_wait(unit, collection, ids.len() == 1, || {
            !catalog.unique_in(collection).is_empty()
        });
    if is_followed && ids.len() > 1 {
        unit.load_existing(collection, &ids).await?;
    }
    let mut all = Touched::default();
    for (document, id) in documents.iter().zip(&ids) {
        let touched = match is_followed {
            true => replace_followed(unit, collection, id, document, upsert).await?,
            false => replace_statement(unit, collection, id, document, upsert).await?,
        };
        all.matched += touched.matched;
        all.modified += touched.modified;
        all.inserted |= touched.inserted;
        all.positions.extend(touched.positions);
    }
    Ok(all)
}

/// A replacement from which nothing follows.
async fn replace_statement(
    unit: &mut Unit<'_>,
    collection: &str,
    id: &RawBson,
    document: &RawDocument,
    upsert: bool,
) -> Result<Touched> {
    let write = UpdateWrite {
        collection: collection.to_owned(),
        filter: Filter::Path("_id".into(), Test::Eq(id.clone())),
        change: Change::Replace(document.to_owned()),
        upsert,
        check: validation::check_of(unit.catalog, collection, LeftBy::Sent),
    };
    let touched = statement(unit, &write).await?;
    match touched.matched == 0 && !touched.inserted {
        true => Err(Error::not_found(collection, &[id])),
        false => Ok(touched),
    }
}

async fn replace_followed(
    unit: &mut Unit<'_>,
    collection: &str,
    id: &RawBson,
    document: &Doc,
    upsert: bool,
) -> Result<Touched> {
    let found = unit
        .load_existing(collection, std::slice::from_ref(id))
        .await?;
    if let Some(&at) = found.first() {
        check_version(unit, collection, at, document)?;
        return replace_at(unit, collection, at, document).await;
    }
    if !upsert {
        return Err(Error::not_found(collection, &[id]));
    }
    // The document was read, and is gone.
    if version_held(unit, collection, document)? > 0 {
        return Err(Error::stale(collection, id));
    }
    let positions = cold::insert(unit, collection, std::slice::from_ref(document)).await?;
    Ok(Touched::inserted(positions))
}

/// The version of a document as a caller has it: 0 of one that was not read.
fn version_held(unit: &Unit<'_>, collection: &str, document: &Doc) -> Result<i64> {
    let path = unit.catalog.version(collection);
    path.map_or(Ok(0), |path| versions::version(document, path))
}

/// Refuses a document whose version is not that of the loaded one that it replaces.
fn check_version(unit: &Unit<'_>, collection: &str, at: usize, document: &Doc) -> Result<()> {
    if let Some(path) = unit.catalog.version(collection)
        && let Some(current) = unit.document(collection, at)
        // It has none from a program whose model has no version, which another declares.
        && let Some(held) = versions::held(document, path)?
        && held != versions::version(current, path)?
    {
        return Err(Error::stale(collection, &id(current).into()));
    }
    Ok(())
}

/// Replaces a document that was loaded.
async fn replace_at(
    unit: &mut Unit<'_>,
    collection: &str,
    at: usize,
    document: &Doc,
) -> Result<Touched> {
    let catalog = unit.catalog;
    let Some(current) = unit.document(collection, at).cloned() else {
        return Ok(Touched::default());
    };
    cold::divide_stored(unit, collection, &[at]).await?;
    let (hot, values) = catalog.divide(collection, document)?;
    unit.change(collection, at, with_stored_id(unit, collection, at, &hot)?)
        .await?;
    cold::replace(unit, &id(&current).into(), values).await?;
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

/// Inserts a document, or changes the one that has its unique key.
async fn upsert_by(
    unit: &mut Unit<'_>,
    collection: &str,
    filter: &Filter,
    (document, numbered): (&Doc, Option<IdOfNumber>),
    found: &Found,
) -> Result<Touched> {
    let matched = cold::matching(unit, collection, filter).await?;
    let Some(&at) = matched.first() else {
        let document = std::slice::from_ref(document);
        let document = sequence::numbered(unit, collection, document, numbered).await?;
        let positions = cold::insert(unit, collection, &document).await?;
        return Ok(Touched::inserted(positions).returning(Some(matched)));
    };
    let touched = match found {
        Found::Kept => Touched::changed(1, Vec::new()),
        Found::Replaced => {
            // The caller of a new document has read no version.
            if version_held(unit, collection, document)? > 0 {
                check_version(unit, collection, at, document)?;
            }
            replace_at(unit, collection, at, document).await?
        }
        Found::Updated { change, is_typed } => {
            let write = UpdateWrite {
                collection: collection.to_owned(),
                filter: filter.clone(),
                change: Change::Update(change.clone()),
                upsert: false,
                check: None,
            };
            update(unit, &write, change, *is_typed, true).await?
        }
    };
    Ok(touched.returning(Some(matched)))
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
    let mut names = HashSet::new();
    for element in document {
        let (name, value) = element.map_err(Error::malformed)?;
        names.insert(name.as_str());
        if name.as_str() != "_id" {
            with_id.append(name, value);
        }
    }
    if let (Some(stored), Some(unnamed)) = (stored, unit.catalog.unnamed_in(collection)) {
        for element in stored.iter() {
            let (name, value) = element.map_err(Error::malformed)?;
            if unnamed.contains(name.as_str()) && !names.contains(name.as_str()) {
                with_id.append(name, value);
            }
        }
    }
    Ok(with_id)
}

async fn delete(unit: &mut Unit<'_>, write: &DeleteWrite, is_returning: bool) -> Result<Touched> {
    let (catalog, collection) = (unit.catalog, write.collection.as_str());
    let is_statement = !is_returning
        && !unit.has_watchers(collection)
        && !catalog.is_delete_followed(collection)
        && !unit.has_queued(collection);
    if is_statement {
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

/// Whether a filter is that of the document with an `_id`.
pub(super) fn is_of_one(filter: &Filter) -> bool {
    matches!(filter, Filter::Path(path, Test::Eq(_)) if path == "_id")
}

fn is_split(catalog: &Catalog, collection: &str) -> bool {
    catalog.splits_of(collection).next().is_some()
}
