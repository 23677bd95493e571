//! Repairs: documents are made to conform to their definitions, as far as the right values are known.

use bson::{RawBson, RawBsonRef, RawDocumentBuf};
use futures_core::future::BoxFuture;
use odm_mql::{key, path};
use odm_store::Result;

use super::{
    base::WriteSummary,
    cold, derived, inverse,
    unit::{Unit, id},
};
use crate::catalog::Split;

/// Repairs documents: first references, since derived fields depend on them, then cold parts, then derived fields in the order of
/// the graph.
pub(super) fn apply<'f>(
    unit: &'f mut Unit<'_>,
    collection: &'f str,
    ids: &'f [RawBson],
) -> BoxFuture<'f, Result<WriteSummary>> {
    Box::pin(async move {
        let catalog = unit.catalog;
        for edge in catalog.edges_from(collection) {
            if edge.is_certain() {
                inverse::repair(unit, edge, ids).await?;
            }
        }
        for split in catalog.splits_of(collection) {
            repair_parts(unit, split, ids).await?;
        }
        repair_versions(unit, collection, ids).await?;
        derived::repair(unit, collection, ids).await?;
        let positions = unit.load_existing(collection, ids).await?;
        Ok(WriteSummary {
            matched: positions.len() as u64,
            ..WriteSummary::default()
        })
    })
}

/// Stores version 0 in documents from before their model had a version: they are read with it.
async fn repair_versions(unit: &mut Unit<'_>, collection: &str, ids: &[RawBson]) -> Result<()> {
    let Some(version) = unit.catalog.version(collection) else {
        return Ok(());
    };
    for at in unit.load_existing(collection, ids).await? {
        let document = unit.document(collection, at);
        if document.is_some_and(|document| path::get(document, version).is_none()) {
            let fields = vec![(version.to_owned(), Some(RawBson::Int64(0)))];
            unit.set_derived(collection, at, fields).await?;
        }
    }
    Ok(())
}

/// Removes cold parts that are equal to the first, and moves inline values to cold parts, unless a different cold part is stored
/// already.
async fn repair_parts(unit: &mut Unit<'_>, split: &Split, ids: &[RawBson]) -> Result<()> {
    let positions = unit.load_existing(&split.hot, ids).await?;
    let parts = cold::parts_of(unit, split, ids.to_vec()).await?;
    for at in positions {
        let Some(document) = unit.document(&split.hot, at) else {
            continue;
        };
        let own = RawBson::from(id(document));
        let parts = parts.get(&key::of(own.as_raw_bson_ref()));
        let parts = parts.map_or(&[][..], Vec::as_slice);
        let stored = parts
            .iter()
            .map(|&at| match unit.document(&split.cold, at) {
                Some(part) => split.value(part),
                None => Ok(RawDocumentBuf::new()),
            });
        let stored: Vec<RawDocumentBuf> = stored.collect::<Result<_>>()?;
        let inline = match (path::get(document, &split.path), stored.first()) {
            (None, _) => Inline::None,
            (Some(RawBsonRef::Null), _) => Inline::Removed,
            (Some(RawBsonRef::Document(value)), None) => Inline::Moved(value.to_owned()),
            (Some(RawBsonRef::Document(value)), Some(stored)) if **stored == *value => {
                Inline::Removed
            }
            _ => Inline::None,
        };
        for (&at, value) in parts.iter().zip(&stored).skip(1) {
            if *value == stored[0] {
                unit.remove(&split.cold, at).await?;
            }
        }
        if let Inline::Moved(value) = &inline {
            cold::divide_off(unit, split, &own, value).await?;
        }
        if !matches!(inline, Inline::None) {
            let fields = vec![(split.path.clone(), None)];
            unit.set(&split.hot, at, fields).await?;
        }
    }
    Ok(())
}

/// The repair of a value that a document holds inline, in place of a cold part.
enum Inline {
    /// There is no inline value, or it differs from the cold part, and it is not known which is right.
    None,
    /// It is null, or equal to the cold part.
    Removed,
    /// It becomes the cold part.
    Moved(RawDocumentBuf),
}
