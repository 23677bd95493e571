//! Updates of the documents that match a filter.

use bson::{RawBson, RawDocument, RawDocumentBuf};
use odm_mql::{Update, UpdatePipeline, order, path};
use odm_store::{Change, Error, ErrorKind, Result, UpdateWrite, id_first};

use super::{WriteSummary, check_version, has_to_wait, is_followed, replace_at, statement};
use crate::{
    catalog::Catalog,
    maintain::{
        cold::{self, UpdateParts},
        sequence::{self, IdNumbering},
        unit::{Doc, Unit, id},
        validation::{self, LeftBy},
        write::{WriteChange, WriteTarget},
    },
    model::ObjectId,
};

/// An update of stored documents.
pub(super) struct MatchedUpdate<'w> {
    pub(super) collection: &'w str,
    pub(super) target: &'w WriteTarget,
    pub(super) change: &'w WriteChange,
    pub(super) upsert: bool,
    pub(super) is_typed: bool,
}

/// A change of the documents of a page.
enum PageChange<'c> {
    Parts(UpdateParts<'c>),
    Pipeline(&'c UpdatePipeline),
}

impl MatchedUpdate<'_> {
    /// Runs the update, and sets the documents that it returns.
    pub(super) async fn run_returning(&self, unit: &mut Unit<'_>) -> Result<WriteSummary> {
        let matched = cold::matching(unit, self.collection, self.target).await?;
        let found = matched
            .first()
            .and_then(|&at| unit.document(self.collection, at));
        let summary = match (self.target, found) {
            (WriteTarget::First { filter, .. }, Some(found)) => {
                let found = WriteTarget::One {
                    id: id(found).into(),
                    condition: filter.clone(),
                };
                let update = MatchedUpdate {
                    target: &found,
                    ..*self
                };
                update.run(unit, true).await?
            }
            _ => self.run(unit, true).await?,
        };
        Ok(summary.returning(matched))
    }

    pub(super) async fn run(
        &self,
        unit: &mut Unit<'_>,
        is_returning: bool,
    ) -> Result<WriteSummary> {
        let summary = match self.change {
            WriteChange::Update(update) => self.update(unit, update, is_returning).await?,
            WriteChange::Replace(document) => self.replace(unit, document).await?,
            WriteChange::Pipeline(pipeline) => {
                check_cold(unit.catalog, self.collection, pipeline)?;
                let named = pipeline.named_paths();
                let is_read = is_returning
                    || pipeline.replaces()
                    || unit.catalog.is_update_read(self.collection, named);
                let change = PageChange::Pipeline(pipeline);
                self.change_pages(unit, change, is_read).await?
            }
        };
        if summary.matched > 0 || summary.inserted || !self.upsert {
            return Ok(summary);
        }
        let seed = self.target.filter().upsert_seed()?;
        let seed = RawDocumentBuf::try_from(&seed).map_err(Error::malformed)?;
        let made = match self.change {
            WriteChange::Update(update) => update.apply(&seed, true, unit.time())?.unwrap_or(seed),
            WriteChange::Replace(document) => with_seeded_id(&seed, document)?,
            WriteChange::Pipeline(pipeline) => pipeline.apply(&seed)?,
        };
        let (made, numbering) = match path::get(&made, "_id") {
            Some(_) => (made, None),
            None => {
                let id = RawBson::from(ObjectId::new());
                let made = id_first(&made, id.as_raw_bson_ref()).unwrap_or(made);
                (made, Some(IdNumbering::Declared(vec![0])))
            }
        };
        let made = [Doc::new(made)];
        let made = sequence::numbered(unit, self.collection, &made, numbering.as_ref()).await?;
        let positions = cold::insert(unit, self.collection, &made).await?;
        Ok(WriteSummary::inserted(positions))
    }

    async fn update(
        &self,
        unit: &mut Unit<'_>,
        change: &Update,
        is_returning: bool,
    ) -> Result<WriteSummary> {
        let (catalog, collection) = (unit.catalog, self.collection);
        let left_by = LeftBy::update(self.is_typed);
        change.check()?;
        let is_followed = is_returning
            || matches!(self.target, WriteTarget::First { .. })
            || unit.has_watchers(collection)
            || is_followed(catalog, collection, change)
            || has_to_wait(unit, collection, self.target.is_one(), || {
                catalog.is_unique_updated(collection, change.paths())
            });
        if !self.upsert && !is_followed {
            let write = UpdateWrite {
                collection: collection.to_owned(),
                filter: self.target.filter(),
                change: Change::Update(change.clone()),
                upsert: false,
                check: validation::check_in(unit, collection, left_by),
            };
            return statement(unit, &write).await;
        }
        let parts = UpdateParts::new(catalog, collection, change)?;
        let is_read = is_returning || catalog.is_update_read(collection, change.paths());
        self.change_pages(unit, PageChange::Parts(parts), is_read)
            .await
    }

    /// Changes the documents that match, page by page. If no later step reads the images, each page is forgotten.
    async fn change_pages(
        &self,
        unit: &mut Unit<'_>,
        change: PageChange<'_>,
        is_read: bool,
    ) -> Result<WriteSummary> {
        let (catalog, collection) = (unit.catalog, self.collection);
        let left_by = LeftBy::update(self.is_typed);
        let mut summary = WriteSummary::default();
        let mut pages = cold::pages_of(unit, collection, self.target, false).await?;
        while pages.has_more() {
            let page = pages.next(unit).await?;
            summary.matched += page.len() as u64;
            let changed = match &change {
                PageChange::Parts(parts) => {
                    let condition = self.target.condition();
                    cold::update(unit, collection, condition, parts, page).await?
                }
                PageChange::Pipeline(pipeline) => {
                    apply_pipeline(unit, collection, pipeline, page).await?
                }
            };
            summary.modified += changed.len() as u64;
            summary.positions.extend(changed);
            if !is_read && pages.has_more() {
                validation::check(unit, collection, &summary.positions, left_by)?;
                for split in catalog.splits_of(collection) {
                    unit.forget_all(&split.cold).await?;
                }
                unit.forget_all(collection).await?;
                summary.positions.clear();
            }
        }
        Ok(summary)
    }

    async fn replace(&self, unit: &mut Unit<'_>, document: &Doc) -> Result<WriteSummary> {
        let collection = self.collection;
        let matched = cold::matching(unit, collection, self.target).await?;
        let Some(&at) = matched.first() else {
            return Ok(WriteSummary::default());
        };
        if let (Some(own), Some(stored)) =
            (path::get(document, "_id"), unit.document(collection, at))
            && !order::equal(own, id(stored))
        {
            let immutable = Error::from(odm_mql::Error::Immutable("_id".to_owned()));
            return Err(immutable.at(collection, Some("_id"), Some(id(stored).into())));
        }
        check_version(unit, collection, at, document)?;
        let modified = replace_at(unit, collection, &[(at, document)]).await?;
        Ok(WriteSummary {
            modified,
            ..WriteSummary::changed(1, vec![at])
        })
    }
}

/// Refuses a pipeline that names or reads a cold part: its stages get the document without it.
fn check_cold(catalog: &Catalog, collection: &str, pipeline: &UpdatePipeline) -> Result<()> {
    for split in catalog.splits_of(collection) {
        let mut paths = pipeline.named_paths().chain(pipeline.read_paths());
        if paths.any(|path| path.is_empty() || path::overlap(path, &split.path)) {
            let message = format!(
                "invalid update: `{collection}.{}` is a cold part, stored in `{}`, which the stages of a pipeline cannot use, also not by \
                 the whole document; update it by its paths",
                split.path, split.cold
            );
            let error = Error::new(ErrorKind::InvalidQuery, message);
            return Err(error.at(collection, Some(&split.path), None));
        }
    }
    Ok(())
}

/// Applies a pipeline to documents by their positions, and returns the positions of the changed documents.
async fn apply_pipeline(
    unit: &mut Unit<'_>,
    collection: &str,
    pipeline: &UpdatePipeline,
    mut positions: Vec<usize>,
) -> Result<Vec<usize>> {
    for &at in &positions {
        if let Some(document) = unit.document(collection, at) {
            let after = pipeline.apply(document);
            let after = after.map_err(|error| Error::of_update(collection, document, error))?;
            if after.as_bytes() != document.as_bytes() {
                unit.change(collection, at, after).await?;
            }
        }
    }
    let images = unit.images(collection);
    positions.retain(|&at| images.at(at).is_changed());
    Ok(positions)
}

/// The document that an upsert inserts in the place of a replacement: with the `_id` that its filter fixes, unless it brings its own.
fn with_seeded_id(seed: &RawDocument, document: &RawDocument) -> Result<RawDocumentBuf> {
    let (own, fixed) = (path::get(document, "_id"), path::get(seed, "_id"));
    if own
        .zip(fixed)
        .is_some_and(|(own, fixed)| !order::equal(own, fixed))
    {
        return Err(odm_mql::Error::Immutable("_id".to_owned()).into());
    }
    let own = own.or(fixed);
    let mut made = RawDocumentBuf::new();
    if let Some(id) = own {
        made.append(bson::raw::cstr!("_id"), id);
    }
    for element in document {
        let (name, value) = element.map_err(Error::malformed)?;
        if name.as_str() != "_id" {
            made.append(name, value);
        }
    }
    Ok(made)
}
