//! Updates of whole documents by paths into any of their parts.

use std::collections::HashSet;

use bson::RawBson;
use odm_mql::{Filter, Projection, Update, key, path};
use odm_store::{Error, ErrorKind, Find, Result, show};

use super::{
    divide_stored,
    parts::{PartChange, UpdateParts},
    parts_of, put, touch,
};
use crate::{
    catalog::Split,
    maintain::{
        unit::{DocumentPages, Unit, id},
        versions,
        write::WriteTarget,
    },
};

/// Updates documents by their positions, and returns the positions of the changed documents. The condition is the filter that the
/// documents match.
pub(in crate::maintain) async fn update(
    unit: &mut Unit<'_>,
    collection: &str,
    condition: &Filter,
    parts: &UpdateParts<'_>,
    mut positions: Vec<usize>,
) -> Result<Vec<usize>> {
    if !parts.cold.is_empty() {
        divide_stored(unit, collection, &positions).await?;
    }
    for &at in &positions {
        let Some(document) = unit.document(collection, at) else {
            continue;
        };
        let after = parts
            .hot
            .apply_matched(condition, document, unit.time())
            .map_err(|error| Error::of_update(collection, document, error))?;
        if let Some(after) = after {
            unit.change(collection, at, after).await?;
        }
    }
    if !parts.cold.is_empty() {
        let documents = positions.iter();
        let owners = documents.filter_map(|&at| Some(id(unit.document(collection, at)?).into()));
        let owners: Vec<RawBson> = owners.collect();
        for (split, part) in &parts.cold {
            let changed = match part {
                PartChange::Whole(value) => {
                    let values = owners.iter().map(|id| (id.clone(), value.clone()));
                    put(unit, split, values.collect()).await?
                }
                PartChange::Fields(update) => update_parts(unit, split, &owners, update).await?,
            };
            touch(unit, split, &changed).await?;
        }
    }
    let images = unit.images(collection);
    positions.retain(|&at| {
        let image = images.at(at);
        image.is_changed() || image.is_touched()
    });
    Ok(positions)
}

/// Changes fields of the cold parts of documents, and returns the documents whose cold part is
/// different now.
async fn update_parts(
    unit: &mut Unit<'_>,
    split: &Split,
    owners: &[RawBson],
    update: &Update,
) -> Result<Vec<RawBson>> {
    let parts = parts_of(unit, split, owners.to_vec()).await?;
    let lacks = |id: &&RawBson| !parts.contains_key(&key::of(id.as_raw_bson_ref()));
    if let Some(id) = owners.iter().find(lacks) {
        let message = format!(
            "missing cold part: `{}` with `_id` = {} has none in `{}` whose fields could change; set \
             `{}` as a whole",
            split.hot,
            show(id),
            split.cold,
            split.path
        );
        let error = Error::new(ErrorKind::NotFound, message);
        return Err(error.at(&split.hot, Some(&split.path), Some(id.clone())));
    }
    let mut changed = Vec::new();
    for owner in owners {
        let key = key::of(owner.as_raw_bson_ref());
        let mut is_changed = false;
        for &at in parts.get(&key).into_iter().flatten() {
            let Some(part) = unit.document(&split.cold, at) else {
                continue;
            };
            let after = update.apply(part, false, unit.time());
            let after = after.map_err(|error| Error::of_update(&split.cold, part, error))?;
            if let Some(after) = after {
                unit.change(&split.cold, at, after).await?;
                let image = unit.images(&split.cold).at(at);
                is_changed |= versions::is_base_changed(unit.catalog, &split.cold, image)?;
            }
        }
        if is_changed {
            changed.push(owner.clone());
        }
    }
    Ok(changed)
}

/// The documents that a write changes, page by page.
pub(in crate::maintain) struct MatchedPages {
    pages: DocumentPages,
    /// The filter that documents found by `_id` must match.
    condition: Filter,
}

impl MatchedPages {
    /// Whether there may be another page.
    pub(in crate::maintain) fn has_more(&self) -> bool {
        self.pages.has_more()
    }

    /// The number of documents after the pages so far, if the pages are fixed.
    pub(in crate::maintain) fn number_left(&self) -> usize {
        self.pages.number_left()
    }

    /// Returns the positions of the next documents.
    pub(in crate::maintain) async fn next(&mut self, unit: &mut Unit<'_>) -> Result<Vec<usize>> {
        let collection = self.pages.collection().to_owned();
        let page = unit.next_page(&mut self.pages).await?;
        let mut matching = Vec::with_capacity(page.len());
        for at in page {
            if let Some(document) = unit.document(&collection, at) {
                let matches = self.condition.matches(document);
                let failed = |error| Error::failed_filter(&collection, id(document), error);
                if matches.map_err(failed)? {
                    matching.push(at);
                }
            }
        }
        Ok(matching)
    }
}

/// The whole documents that a write changes, found in the collection that the paths of its filter are in. Fixed pages are the
/// documents that match now, whatever the unit changes between them.
pub(in crate::maintain) async fn pages_of(
    unit: &mut Unit<'_>,
    collection: &str,
    target: &WriteTarget,
    is_fixed: bool,
) -> Result<MatchedPages> {
    let catalog = unit.catalog;
    let split = catalog.split_of_query(collection, target.condition(), target.sort())?;
    let (pages, condition) = match (split, target) {
        (None, WriteTarget::One { id, condition }) => {
            let pages = DocumentPages::of_ids(collection, vec![id.clone()]);
            (pages, condition.clone())
        }
        (None, WriteTarget::Matching(filter)) => {
            let find = Find {
                collection: collection.to_owned(),
                filter: filter.clone(),
                ..Find::default()
            };
            let pages = if is_fixed {
                DocumentPages::fixed(find)
            } else {
                DocumentPages::new(find)
            };
            (pages, Filter::default())
        }
        (None, WriteTarget::First { filter, sort }) => {
            let find = Find {
                collection: collection.to_owned(),
                filter: filter.clone(),
                sort: sort.clone(),
                limit: Some(1),
                ..Find::default()
            };
            let first = unit.search_images(&find).await?;
            let first = first.iter().filter_map(|&at| unit.document(collection, at));
            let first = first.map(|document| id(document).into()).collect();
            (DocumentPages::of_ids(collection, first), Filter::default())
        }
        (Some(split), target) => {
            let owners = owners(unit, split, target).await?;
            let pages = DocumentPages::of_ids(collection, owners);
            (pages, Filter::default())
        }
    };
    Ok(MatchedPages { pages, condition })
}

/// The `_id`s of the documents whose cold parts match a filter of whole documents.
async fn owners(unit: &mut Unit<'_>, split: &Split, target: &WriteTarget) -> Result<Vec<RawBson>> {
    let whole = Find {
        collection: split.hot.clone(),
        filter: target.filter(),
        sort: target.sort().clone(),
        ..Find::default()
    };
    let parts = Find {
        projection: Some(Projection::include([split.key.clone()])?),
        ..split.find(&whole)
    };
    let mut seen = HashSet::new();
    let parts = unit.search(&parts).await?;
    let owners = parts.iter().filter_map(|part| path::get(part, &split.key));
    let owners = owners.filter(|owner| seen.insert(key::of(*owner)));
    let mut owners: Vec<RawBson> = owners.map(RawBson::from).collect();
    let is_first = matches!(target, WriteTarget::First { .. });
    if is_first || owners.len() > unit.bounds.chunk {
        // An orphan cold part has no document, and is not counted.
        let exist = unit.exist(&split.hot, &owners).await?;
        let mut exist = exist.into_iter();
        owners.retain(|_| exist.next().unwrap_or_default());
    }
    if is_first {
        owners.truncate(1);
    }
    Ok(owners)
}

/// The positions of all documents that a write changes.
pub(in crate::maintain) async fn matching(
    unit: &mut Unit<'_>,
    collection: &str,
    target: &WriteTarget,
) -> Result<Vec<usize>> {
    let mut pages = pages_of(unit, collection, target, false).await?;
    let mut positions = Vec::new();
    while pages.has_more() {
        positions.extend(pages.next(unit).await?);
    }
    Ok(positions)
}
