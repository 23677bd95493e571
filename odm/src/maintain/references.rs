//! Every reference that a write adds names a document that exists.

use std::collections::{BTreeMap, HashSet};

use bson::{RawBson, RawBsonRef, RawDocument};
use futures_core::future::BoxFuture;
use odm_mql::{
    key,
    path::{self, Leaf},
};
use odm_store::{Error, ErrorKind, Result, mutants::mutant, show};

use super::{
    policy::ReferenceCheck,
    unit::{Doc, Image, Images, Unit},
};
use crate::catalog::{Cardinality, Edge, references};

/// Checks the references that the unit has added, with one call for each collection that they name.
///
/// References that a document held before are not checked again: a reference that was allowed to dangle does not prevent changes
/// of its holder.
///
/// All references of imported documents count as added, except references that a delete may have left dangling in the other
/// store.
pub(super) fn check<'f>(unit: &'f mut Unit<'_>) -> BoxFuture<'f, Result<()>> {
    Box::pin(async move {
        let (catalog, imports) = (unit.catalog, unit.policy.keeps_origin);
        let is_sent_whole = match unit.policy.references {
            ReferenceCheck::None => return Ok(()),
            ReferenceCheck::Added => false,
            ReferenceCheck::AddedInDocuments => true,
        };
        let mut targets: BTreeMap<&str, Vec<(&Edge, RawBson)>> = BTreeMap::new();
        for collection in unit.collections() {
            for edge in catalog.edges_from(collection) {
                let is_checked = if imports {
                    edge.is_certain()
                } else {
                    !edge.unchecked
                };
                if is_checked {
                    let images = unit.images(collection);
                    let held = |image: &Image| -> Option<Doc> {
                        let before = if imports {
                            image.before()
                        } else {
                            image.before_or_origin()
                        };
                        before.cloned()
                    };
                    if is_sent_whole && let Some(id) = added_nameless(edge, images, &held) {
                        return Err(dangling(unit, edge, &id));
                    }
                    let changed = images.changed().map(|(_, image)| image);
                    let added = added(edge, changed, &held);
                    let targets = targets.entry(&edge.to).or_default();
                    targets.extend(added.into_iter().map(|id| (edge, id)));
                }
            }
        }
        for (collection, added) in targets {
            let ids: Vec<RawBson> = added.iter().map(|(_, id)| id.clone()).collect();
            let exist = unit.exist(collection, &ids).await?;
            let missing = exist.iter().position(|exist| !exist);
            let missing = missing.filter(|&at| !mutant("second dangling reference") || at == 0);
            if let Some(missing) = missing.filter(|_| !mutant("dangling reference")) {
                let (edge, id) = &added[missing];
                return Err(dangling(unit, edge, id));
            }
        }
        Ok(())
    })
}

fn dangling(unit: &Unit<'_>, edge: &Edge, id: &RawBson) -> Error {
    let (collection, path) = unit.catalog.whole_path(&edge.from, &edge.path);
    let message = format!(
        "dangling reference: `{collection}.{path}` = {} not found in `{}`; insert that document \
         first, in the same call or before",
        show(id),
        edge.to
    );
    Error::new(ErrorKind::DanglingReference, message).at(&collection, Some(&path), Some(id.clone()))
}

/// The `_id`s that the documents reference now and did not before, without duplicates.
pub(super) fn added<'i>(
    edge: &Edge,
    changed: impl Iterator<Item = &'i Image>,
    held: &dyn Fn(&Image) -> Option<Doc>,
) -> Vec<RawBson> {
    let mut seen = HashSet::new();
    let mut added = Vec::new();
    for image in changed {
        let Some(now) = image.now() else { continue };
        let mut before = HashSet::new();
        if let Some(document) = held(image) {
            if path::is_same(&document, now, &edge.path) {
                continue;
            }
            references(&document, &edge.path, |id| {
                before.insert(key::of(id));
            });
        }
        references(now, &edge.path, |id| {
            let key = key::of(id);
            if !before.contains(&key) && seen.insert(key) {
                added.push(id.into());
            }
        });
    }
    added
}

/// A value in the place of a reference that cannot be an `_id`, if the document held no such value there before.
fn added_nameless(
    edge: &Edge,
    images: &Images,
    held: &dyn Fn(&Image) -> Option<Doc>,
) -> Option<RawBson> {
    let mut changed = images.changed();
    changed.find_map(|(_, image)| {
        let before = held(image).and_then(|document| nameless(edge, &document));
        let now = image.now().filter(|_| before.is_none())?;
        nameless(edge, now)
    })
}

fn nameless(edge: &Edge, document: &RawDocument) -> Option<RawBson> {
    let is_nameless = |id: &RawBsonRef<'_>| matches!(id, RawBsonRef::Null | RawBsonRef::Array(_));
    let mut found = None;
    path::visit(document, &edge.path, Leaf::Whole, &mut |value| {
        found = match (edge.cardinality, value) {
            (Cardinality::One, Some(id)) if is_nameless(&id) => Some(id.into()),
            (Cardinality::Many, Some(RawBsonRef::Array(ids))) => ids
                .into_iter()
                .flatten()
                .find(is_nameless)
                .map(RawBson::from),
            _ => None,
        };
        found.is_some()
    });
    found
}
