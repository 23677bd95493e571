//! The first step of a unit: the user's own changes.

mod update;

use std::{collections::HashSet, slice};

use bson::{RawBson, RawDocument, RawDocumentBuf};
use futures_core::future::BoxFuture;
use odm_mql::{Filter, Update, diff, key, path};
use odm_store::{Change, DeleteWrite, Error, ErrorKind, Result, UpdateWrite, show};

use self::update::MatchedUpdate;
use super::{
    cold::{self, MatchedPages, UpdateParts},
    repair,
    sequence::{self, IdNumbering},
    unit::{Digest, Doc, Unit, id},
    validation::{self, LeftBy},
    versions,
    write::{OnConflict, Write, WriteChange, WriteTarget},
};
use crate::catalog::Catalog;

/// The result of the user's own write.
#[derive(Debug, Default)]
pub(super) struct WriteSummary {
    /// The number of documents that matched.
    pub(super) matched: u64,
    /// The number of matched documents that are different now.
    pub(super) modified: u64,
    /// Whether an upsert inserted a document.
    pub(super) inserted: bool,
    /// The positions, in the collection's images, of the documents that the current page changed, in the order of writing; empty
    /// if the write has no consequences.
    pub(super) positions: Vec<usize>,
    /// The positions of the documents that matched, or were inserted, where the write returns them.
    pub(super) returned: Vec<usize>,
}

/// The progress of a write.
#[derive(Default)]
pub(crate) struct WriteProgress {
    pub(super) summary: WriteSummary,
    /// The documents that the write returns.
    pub(super) returned: Vec<Digest>,
    /// The `_id` of the document that an update has inserted.
    pub(super) inserted_id: Option<RawBson>,
    /// The documents that a delete has not removed yet.
    rest: Option<MatchedPages>,
}

impl WriteSummary {
    pub(super) fn inserted(positions: Vec<usize>) -> Self {
        WriteSummary {
            inserted: true,
            positions,
            ..WriteSummary::default()
        }
    }

    /// Sets the documents that the write returns: the inserted document, or else the documents that matched before the write.
    fn returning(mut self, matched: Vec<usize>) -> Self {
        self.returned = if self.inserted {
            self.positions.clone()
        } else {
            matched
        };
        self
    }

    fn changed(matched: u64, positions: Vec<usize>) -> Self {
        WriteSummary {
            matched,
            modified: positions.len() as u64,
            positions,
            ..WriteSummary::default()
        }
    }
}

/// Carries out the next page of a write, and returns whether another page follows. Only a delete has more than one: its pages are
/// pages of the whole unit.
pub(super) fn apply<'f>(
    unit: &'f mut Unit<'_>,
    write: &'f Write,
    progress: &'f mut WriteProgress,
) -> BoxFuture<'f, Result<bool>> {
    Box::pin(async move {
        progress.summary = match write {
            Write::Insert {
                collection,
                documents,
                numbering,
                ..
            } => {
                let documents = sequence::numbered(unit, collection, documents, numbering.as_ref());
                let documents = documents.await?;
                WriteSummary::inserted(cold::insert(unit, collection, &documents).await?)
            }
            Write::Update {
                collection,
                target,
                change,
                upsert,
                is_typed,
                returning,
                ..
            } => {
                let update = MatchedUpdate {
                    collection,
                    target,
                    change,
                    upsert: *upsert,
                    is_typed: *is_typed,
                };
                match returning {
                    None => update.run(unit, false).await?,
                    Some(_) => update.run_returning(unit).await?,
                }
            }
            Write::Replace {
                collection,
                documents,
                upsert,
                is_raw,
                ..
            } => replace(unit, collection, documents, *upsert, *is_raw).await?,
            Write::UpsertBy {
                collection,
                key,
                document,
                numbering,
                on_conflict,
                ..
            } => {
                upsert_by(
                    unit,
                    collection,
                    key,
                    (document, numbering.as_ref()),
                    on_conflict,
                )
                .await?
            }
            Write::Modify {
                collection,
                id,
                read,
                from,
                to,
                ..
            } => modify(unit, collection, id, read, (from, to)).await?,
            Write::Repair { collection, ids } => repair::apply(unit, collection, ids).await?,
            Write::Delete {
                collection,
                target,
                returning,
                ..
            } => return delete(unit, collection, target, returning.is_some(), progress).await,
        };
        Ok(false)
    })
}

/// Sends an update without consequences to the store as it is.
async fn statement(unit: &mut Unit<'_>, write: &UpdateWrite) -> Result<WriteSummary> {
    let updated = unit.update_where(write).await?;
    Ok(WriteSummary {
        matched: updated.matched,
        modified: updated.modified,
        inserted: updated.inserted,
        ..WriteSummary::default()
    })
}

/// Whether an update has consequences.
pub(super) fn is_followed(catalog: &Catalog, collection: &str, change: &Update) -> bool {
    // A document with pending fields is validated as it is read.
    !catalog.pending_in(collection).is_empty()
        || catalog.is_update_followed(collection, change.paths())
}

/// Whether a change must be queued with other changes of its unit: one is queued already, or the change may take a key of a
/// unique index that another document gives up. A unit that changes one document takes no key from another.
fn has_to_wait(
    unit: &Unit<'_>,
    collection: &str,
    is_of_one: bool,
    takes_keys: impl FnOnce() -> bool,
) -> bool {
    let is_alone = is_of_one && !unit.is_part;
    unit.has_queued(collection) || (!is_alone && takes_keys())
}

async fn modify(
    unit: &mut Unit<'_>,
    collection: &str,
    id: &RawBson,
    read: &RawDocument,
    (from, to): (&RawDocument, &RawDocument),
) -> Result<WriteSummary> {
    let found = unit.load_existing(collection, slice::from_ref(id)).await?;
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
        return Ok(WriteSummary::changed(1, Vec::new()).returning(found));
    }
    let parts = UpdateParts::new(unit.catalog, collection, &update)?;
    let all = Filter::default();
    let positions = cold::update(unit, collection, &all, &parts, found.clone()).await?;
    Ok(WriteSummary::changed(1, positions).returning(found))
}

async fn replace(
    unit: &mut Unit<'_>,
    collection: &str,
    documents: &[Doc],
    upsert: bool,
    is_raw: bool,
) -> Result<WriteSummary> {
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
        || ids.len() > 1
        || unit.has_watchers(collection)
        || catalog.is_replace_followed(collection)
        || unit.has_queued(collection)
        || (unit.is_part && !catalog.unique_in(collection).is_empty());
    if !is_followed && let ([document], [id]) = (documents, &ids[..]) {
        return replace_statement(unit, collection, id, document, upsert).await;
    }
    let positions = unit.load(collection, &ids).await?;
    let (mut replaced, mut new) = (Vec::new(), Vec::new());
    for (document, &at) in documents.iter().zip(&positions) {
        if unit.document(collection, at).is_some() {
            check_version(unit, collection, at, document)?;
            replaced.push((at, document));
        } else if !upsert {
            return Err(Error::not_found(collection, &[&id(document).into()]));
        } else if sent_version(unit, collection, document)? > 0 {
            // The caller has read the document, and it is gone.
            return Err(Error::stale(collection, &id(document).into()));
        } else {
            new.push(document.clone());
        }
    }
    let modified = replace_at(unit, collection, &replaced).await?;
    cold::insert(unit, collection, &new).await?;
    Ok(WriteSummary {
        matched: replaced.len() as u64,
        modified,
        inserted: !new.is_empty(),
        positions,
        ..WriteSummary::default()
    })
}

/// Sends a replacement without consequences to the store as it is.
async fn replace_statement(
    unit: &mut Unit<'_>,
    collection: &str,
    id: &RawBson,
    document: &RawDocument,
    upsert: bool,
) -> Result<WriteSummary> {
    let write = UpdateWrite {
        collection: collection.to_owned(),
        filter: WriteTarget::one(id.clone()).filter(),
        change: Change::Replace(document.to_owned()),
        upsert,
        check: validation::check_in(unit, collection, LeftBy::Sent),
    };
    let summary = statement(unit, &write).await?;
    if summary.matched == 0 && !summary.inserted {
        return Err(Error::not_found(collection, &[id]));
    }
    Ok(summary)
}

/// The version in a document that a caller sends: 0 if the caller has not read the document.
fn sent_version(unit: &Unit<'_>, collection: &str, document: &Doc) -> Result<i64> {
    let path = unit.catalog.version(collection);
    path.map_or(Ok(0), |path| versions::version(collection, document, path))
}

/// Refuses a document whose version differs from the version of the loaded document that it replaces.
fn check_version(unit: &Unit<'_>, collection: &str, at: usize, document: &Doc) -> Result<()> {
    if let Some(path) = unit.catalog.version(collection)
        && let Some(current) = unit.document(collection, at)
        // A program whose model declares no version sends none.
        && let Some(sent) = versions::version_in(collection, document, path)?
        && sent != versions::version(collection, current, path)?
    {
        return Err(Error::stale(collection, &id(current).into()));
    }
    Ok(())
}

/// Replaces documents that were loaded, and returns how many are different now.
async fn replace_at(
    unit: &mut Unit<'_>,
    collection: &str,
    replaced: &[(usize, &Doc)],
) -> Result<u64> {
    let catalog = unit.catalog;
    let positions: Vec<usize> = replaced.iter().map(|(at, _)| *at).collect();
    cold::divide_stored(unit, collection, &positions).await?;
    let mut parts = Vec::new();
    for &(at, document) in replaced {
        let (hot, values) = catalog.split_document(collection, document)?;
        let after = with_stored_id(unit, collection, at, &hot)?;
        let owner = RawBson::from(id(&after));
        unit.replace(collection, at, after).await?;
        let values = values.into_iter();
        parts.extend(values.filter_map(|(split, value)| Some((split, owner.clone(), value?))));
    }
    cold::replace(unit, parts).await?;
    let images = unit.images(collection);
    let changed = positions.iter().map(|&at| images.at(at));
    let changed = changed.filter(|image| image.is_changed() || image.is_touched());
    Ok(changed.count() as u64)
}

/// Inserts a document, or changes the stored document that has its unique key.
async fn upsert_by(
    unit: &mut Unit<'_>,
    collection: &str,
    key: &Filter,
    (document, numbering): (&Doc, Option<&IdNumbering>),
    on_conflict: &OnConflict,
) -> Result<WriteSummary> {
    let target = WriteTarget::Matching(key.clone());
    let matched = cold::matching(unit, collection, &target).await?;
    let Some(&at) = matched.first() else {
        let document = slice::from_ref(document);
        let document = sequence::numbered(unit, collection, document, numbering).await?;
        let positions = cold::insert(unit, collection, &document).await?;
        return Ok(WriteSummary::inserted(positions).returning(matched));
    };
    let summary = match on_conflict {
        OnConflict::Keep => WriteSummary::changed(1, Vec::new()),
        OnConflict::Replace => {
            // A caller that sends a new document has read no version.
            if sent_version(unit, collection, document)? > 0 {
                check_version(unit, collection, at, document)?;
            }
            WriteSummary {
                modified: replace_at(unit, collection, &[(at, document)]).await?,
                ..WriteSummary::changed(1, vec![at])
            }
        }
        OnConflict::Update { change, is_typed } => {
            let change = WriteChange::Update(change.clone());
            let update = MatchedUpdate {
                collection,
                target: &target,
                change: &change,
                upsert: false,
                is_typed: *is_typed,
            };
            update.run(unit, true).await?
        }
    };
    Ok(summary.returning(matched))
}

/// Returns the replacing document with the `_id` as it is stored, and with the stored fields that only models of other programs
/// declare: the caller does not know them.
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

/// Removes the next page of documents.
async fn delete(
    unit: &mut Unit<'_>,
    collection: &str,
    target: &WriteTarget,
    is_returning: bool,
    progress: &mut WriteProgress,
) -> Result<bool> {
    let WriteProgress { summary, rest, .. } = progress;
    let is_first = rest.is_none();
    let is_statement = !is_returning
        && !matches!(target, WriteTarget::First { .. })
        && !unit.has_watchers(collection)
        && !unit.catalog.is_delete_followed(collection)
        && !unit.has_queued(collection);
    if is_first && is_statement {
        let write = DeleteWrite {
            collection: collection.to_owned(),
            filter: target.filter(),
        };
        let deleted = unit.delete_where(&write).await?;
        (summary.matched, summary.modified) = (deleted.removed, deleted.removed);
        return Ok(false);
    }
    if is_returning {
        let removed = cold::matching(unit, collection, target).await?;
        remove(unit, collection, &removed).await?;
        *summary = WriteSummary::changed(removed.len() as u64, removed.clone()).returning(removed);
        return Ok(false);
    }
    let pages = match rest {
        Some(pages) => pages,
        // Fixed, since a consequence of one page may remove a document of a later page, or change whether it matches.
        None => rest.insert(cold::pages_of(unit, collection, target, true).await?),
    };
    let removed = pages.next(unit).await?;
    if is_first {
        summary.matched = (removed.len() + pages.number_left()) as u64;
        summary.modified = summary.matched;
    }
    remove(unit, collection, &removed).await?;
    Ok(pages.has_more())
}

async fn remove(unit: &mut Unit<'_>, collection: &str, positions: &[usize]) -> Result<()> {
    for &at in positions {
        unit.remove(collection, at).await?;
    }
    Ok(())
}
