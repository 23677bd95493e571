//! Updates of whole documents by paths into any of their parts.

use bson::{RawBson, RawDocumentBuf};
use odm_mql::{Filter, Sort, Update, key, path};
use odm_store::{Error, ErrorKind, Find, Result, show};

use super::{
    super::{
        base::Touched,
        unit::{Doc, Unit, id},
        versions,
    },
    divide_stored, insert,
    parts::{PartChange, UpdateParts},
    parts_of, put, touch,
};
use crate::catalog::Split;

/// Updates the documents that match, which are split.
pub(in crate::maintain) async fn update(
    unit: &mut Unit<'_>,
    collection: &str,
    filter: &Filter,
    update: &Update,
    upsert: bool,
) -> Result<Touched> {
    let parts = UpdateParts::new(unit.catalog, collection, update)?;
    let positions = matching(unit, collection, filter).await?;
    if positions.is_empty() && upsert {
        let seed = filter.upsert_seed()?;
        let seed = RawDocumentBuf::try_from(&seed).map_err(Error::malformed)?;
        let made = update.apply(&seed, true, unit.time())?.unwrap_or(seed);
        let positions = insert(unit, collection, &[Doc::new(made)]).await?;
        return Ok(Touched::inserted(positions));
    }
    let mut touched = Touched {
        matched: positions.len() as u64,
        ..Touched::default()
    };
    if parts.is_divided && !parts.cold.is_empty() {
        divide_stored(unit, collection, &positions).await?;
    }
    for &at in &positions {
        let Some(document) = unit.document(collection, at) else {
            continue;
        };
        let after = parts.hot.apply_matched(filter, document, unit.time());
        let after = after.map_err(|error| Error::of_update(collection, document, error))?;
        if let Some(after) = after {
            unit.change(collection, at, after).await?;
        }
    }
    let owners: Vec<RawBson> = positions
        .iter()
        .filter_map(|&at| Some(id(unit.document(collection, at)?).into()))
        .collect();
    for (split, part) in parts.cold {
        let changed = match part {
            PartChange::Whole(value) => {
                let values = owners.iter().map(|id| (id.clone(), value.clone()));
                put(unit, split, values.collect()).await?
            }
            PartChange::Fields(update) => update_parts(unit, split, &owners, &update).await?,
        };
        touch(unit, split, &changed).await?;
    }
    let images = unit.images(collection);
    touched.positions = positions;
    touched.positions.retain(|&at| {
        let image = images.at(at);
        image.is_changed() || image.is_touched()
    });
    Ok(touched)
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

/// The positions of the whole documents that a filter matches, by the collection that its paths are
/// in.
pub(in crate::maintain) async fn matching(
    unit: &mut Unit<'_>,
    collection: &str,
    filter: &Filter,
) -> Result<Vec<usize>> {
    let find = Find {
        collection: collection.to_owned(),
        filter: filter.clone(),
        ..Find::default()
    };
    let catalog = unit.catalog;
    let Some(split) = catalog.split_of_query(collection, filter, &Sort::default())? else {
        return unit.search_images(&find).await;
    };
    let parts = unit.search_images(&split.find(&find)).await?;
    let images = unit.images(&split.cold);
    let owners = parts.into_iter().filter_map(|at| {
        let part = images.at(at).now()?;
        path::get(part, &split.key).map(RawBson::from)
    });
    let owners: Vec<RawBson> = owners.collect();
    // An orphan cold part has no document.
    unit.load_existing(&split.hot, &owners).await
}
