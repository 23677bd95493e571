//! Subset arrays: what a parent shows of its children.
//!
//! The children's collection is the truth. A subset that may have changed is dirty; at the end of
//! the unit each dirty one is read anew by its definition, through the index on the reference and
//! the sort keys, and stored if it is different. Nothing is patched, so nothing can drift.

use std::{collections::BTreeMap, ptr, slice};

use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, raw::CStr};

use super::{
    Effect,
    base::{by_id, malformed},
};
use crate::{
    catalog::{Catalog, Subset, references},
    error::Result,
    mql::{Filter, Operation, Test, Update, key, path},
    store::{Change, Find, Flow, Transaction},
};

/// Brings up the subsets that the effects of a unit make dirty, each once, and the effects on their
/// holders with them.
pub(super) async fn apply(
    catalog: &Catalog,
    transaction: &mut dyn Transaction,
    collection: &str,
    effects: &mut [Effect],
) -> Result<()> {
    let mut found: Vec<(&Subset, RawBson)> = Vec::new();
    for subset in catalog.subsets_of(collection) {
        let parents = dirty_by_children(subset, effects)?.into_values();
        found.extend(parents.map(|parent| (subset, parent)));
    }
    for subset in catalog.subsets_in(collection) {
        let holders = dirty_by_holders(subset, effects);
        found.extend(holders.into_iter().map(|holder| (subset, holder)));
    }
    // A document is written once, whatever is dirty in it.
    let mut dirty: BTreeMap<(&str, Vec<u8>), Dirty<'_>> = BTreeMap::new();
    for (subset, id) in found {
        let key = (subset.parent.as_str(), key::of(id.as_raw_bson_ref()));
        let holder = dirty.entry(key).or_insert_with(|| Dirty {
            id,
            subsets: Vec::new(),
        });
        if !holder.subsets.iter().any(|other| ptr::eq(*other, subset)) {
            holder.subsets.push(subset);
        }
    }
    for ((holders, _), dirty) in dirty {
        let after = bring_up(transaction, holders, &dirty).await?;
        if holders == collection {
            note(effects, &dirty.id, after);
        }
    }
    Ok(())
}

/// A document with the subsets in it that may be wrong.
struct Dirty<'a> {
    id: RawBson,
    subsets: Vec<&'a Subset>,
}

/// What the unit leaves of a document that it wrote is what is there after the derived writes.
fn note(effects: &mut [Effect], id: &RawBson, after: Option<RawDocumentBuf>) {
    let Some(after) = after else { return };
    let written = effects
        .iter_mut()
        .rfind(|effect| effect.after.as_deref().is_some_and(|after| is(after, id)));
    if let Some(effect) = written {
        effect.after = Some(after);
    }
}

fn is(document: &RawDocument, id: &RawBson) -> bool {
    document.get("_id").ok().flatten() == Some(id.as_raw_bson_ref())
}

/// The parents whose children have changed in what the subset shows or sorts by, each once.
fn dirty_by_children(subset: &Subset, effects: &[Effect]) -> Result<BTreeMap<Vec<u8>, RawBson>> {
    let mut dirty = BTreeMap::new();
    for effect in effects {
        let counts = |child: &&RawDocument| subset.filter.matches(child);
        let before = effect.before.as_deref().filter(counts);
        let after = effect.after.as_deref().filter(counts);
        if let (Some(before), Some(after)) = (before, after)
            && place(subset, before)? == place(subset, after)?
        {
            continue;
        }
        for child in before.into_iter().chain(after) {
            references(child, &subset.reference, |parent| {
                dirty
                    .entry(key::of(parent))
                    .or_insert_with(|| parent.into());
            });
        }
    }
    Ok(dirty)
}

/// All that a child's place in a subset depends on: its parents, its sort keys, and what is shown.
fn place(subset: &Subset, child: &RawDocument) -> Result<(Vec<Vec<u8>>, Vec<u8>, RawDocumentBuf)> {
    let mut parents = Vec::new();
    references(child, &subset.reference, |parent| {
        parents.push(key::of(parent))
    });
    Ok((
        parents,
        subset.sort.encode_key(child),
        shown(subset, child)?,
    ))
}

/// What a subset shows of a child: the fields of the projection, in its order.
fn shown(subset: &Subset, child: &RawDocument) -> Result<RawDocumentBuf> {
    match &subset.shown {
        None => Ok(child.to_owned()),
        Some(names) => {
            let mut shown = RawDocumentBuf::new();
            for name in names {
                if let Some(value) = path::get(child, name) {
                    shown.append(<&CStr>::try_from(*name).map_err(malformed)?, value);
                }
            }
            Ok(shown)
        }
    }
}

/// The documents that hold the subset and were written as a whole, with whatever the caller had in
/// its place.
fn dirty_by_holders(subset: &Subset, effects: &[Effect]) -> Vec<RawBson> {
    effects
        .iter()
        .filter_map(|effect| {
            let after = effect.after.as_deref()?;
            let before = effect.before.as_deref();
            if before.is_some_and(|before| array(subset, before) == array(subset, after)) {
                return None;
            }
            after.get("_id").ok().flatten().map(RawBson::from)
        })
        .collect()
}

fn array<'a>(subset: &Subset, holder: &'a RawDocument) -> Option<RawBsonRef<'a>> {
    holder.get(&subset.path).ok().flatten()
}

/// Makes subsets what their definitions say, and returns the holder if that changes it.
async fn bring_up(
    transaction: &mut dyn Transaction,
    holders: &str,
    dirty: &Dirty<'_>,
) -> Result<Option<RawDocumentBuf>> {
    let mut stored: Option<Vec<_>> = None;
    transaction
        .get(holders, slice::from_ref(&dirty.id), &mut |_, holder| {
            let arrays = dirty.subsets.iter().map(|subset| array(subset, holder));
            stored = Some(arrays.map(|array| array.map(RawBson::from)).collect());
            Ok(Flow::More)
        })
        .await?;
    // A child may refer to a parent that does not exist, and has its place when it does.
    let Some(stored) = stored else {
        return Ok(None);
    };
    let mut update = Update::default();
    for (subset, stored) in dirty.subsets.iter().zip(stored) {
        let wanted = RawBson::Array(children(transaction, subset, &dirty.id).await?);
        if stored.as_ref() != Some(&wanted) {
            update.push(subset.path.clone(), Operation::Set(wanted));
        }
    }
    if update.is_empty() {
        return Ok(None);
    }
    let write = by_id(holders, &dirty.id, Change::Update(update));
    let updated = transaction.update(&write).await?;
    Ok(updated
        .changes
        .into_iter()
        .next()
        .map(|changed| changed.after))
}

/// The definition of a subset: the first children in order, or the last ones.
async fn children(
    transaction: &dyn Transaction,
    subset: &Subset,
    parent: &RawBson,
) -> Result<RawArrayBuf> {
    let of_parent = Filter::Path(subset.reference.clone().into(), Test::Eq(parent.clone()));
    let last = subset.limit < 0;
    let find = Find {
        collection: subset.child.clone(),
        filter: of_parent.and(subset.filter.clone()),
        sort: if last {
            subset.sort.reversed()
        } else {
            subset.sort.clone()
        },
        limit: Some(subset.limit.unsigned_abs()),
        ..Find::default()
    };
    let mut found = Vec::new();
    transaction
        .find(&find, &mut |_, child| {
            found.push(shown(subset, child)?);
            Ok(Flow::More)
        })
        .await?;
    if last {
        found.reverse();
    }
    let mut array = RawArrayBuf::new();
    for child in found {
        array.push(child);
    }
    Ok(array)
}
