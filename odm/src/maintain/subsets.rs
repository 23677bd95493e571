//! Subset arrays: what a parent shows of its children.
//!
//! The children's collection is the truth. A subset that may have changed is dirty; at the end of
//! the unit each dirty one is read anew by its definition, through the index on the reference and
//! the sort keys, and stored if it is different. Nothing is patched, so nothing can drift.

use std::{collections::BTreeMap, ops::ControlFlow, ptr};

use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, raw::CStr};

use super::{
    Effect,
    places::Fields,
    unit::{Unit, id},
};
use crate::{
    catalog::{Subset, references},
    error::{Error, Result},
    mql::{Filter, Test, key, path},
    store::{Find, Reader},
};

/// Brings up the subsets that the changes of a unit make dirty, each once.
pub(super) async fn apply(unit: &mut Unit<'_>) -> Result<()> {
    let mut found: Vec<(&Subset, RawBson)> = Vec::new();
    for subset in unit.catalog.subsets() {
        let parents = dirty_by_children(subset, unit.changes.of(&subset.child))?.into_values();
        found.extend(parents.map(|parent| (subset, parent)));
        let holders = dirty_by_holders(subset, unit.changes.of(&subset.parent));
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
        let start = unit.transaction.cost();
        // A child may refer to a parent that does not exist, and has its place when it does.
        let Some(holder) = unit.get(holders, &dirty.id).await? else {
            continue;
        };
        let wrong = wrong(&*unit.transaction, &dirty.subsets, &holder).await?;
        if !wrong.is_empty() {
            unit.set(holders, &dirty.id, wrong).await?;
        }
        unit.step(start, || {
            let paths: Vec<String> = dirty
                .subsets
                .iter()
                .map(|subset| format!("`{}`", subset.path))
                .collect();
            format!("{} of `{holders}`", paths.join(", "))
        });
    }
    Ok(())
}

/// A document with the subsets in it that may be wrong.
struct Dirty<'a> {
    id: RawBson,
    subsets: Vec<&'a Subset>,
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
pub(crate) fn shown(subset: &Subset, child: &RawDocument) -> Result<RawDocumentBuf> {
    match &subset.shown {
        None => Ok(child.to_owned()),
        Some(names) => {
            let mut shown = RawDocumentBuf::new();
            for name in names {
                if let Some(value) = path::get(child, name) {
                    shown.append(
                        <&CStr>::try_from(name.as_str()).map_err(Error::malformed)?,
                        value,
                    );
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

/// The subsets of a document that are not what their definitions say, with what they should be.
pub(super) async fn wrong(
    reader: &dyn Reader,
    subsets: &[&Subset],
    holder: &RawDocument,
) -> Result<Fields> {
    let id = RawBson::from(id(holder));
    let mut wrong = Vec::new();
    for subset in subsets {
        let wanted = RawBson::Array(children(reader, subset, &id).await?);
        if array(subset, holder).map(RawBson::from).as_ref() != Some(&wanted) {
            wrong.push((subset.path.clone(), Some(wanted)));
        }
    }
    Ok(wrong)
}

/// The children of a parent in the order in which a subset takes them: the last first, if it shows
/// the last ones.
pub(crate) fn children_in_order(subset: &Subset, parent: &RawBson) -> Find {
    let of_parent = Filter::Path(subset.reference.clone().into(), Test::Eq(parent.clone()));
    Find {
        collection: subset.child.clone(),
        filter: of_parent.and(subset.filter.clone()),
        sort: if subset.limit < 0 {
            subset.sort.reversed()
        } else {
            subset.sort.clone()
        },
        ..Find::default()
    }
}

/// The definition of a subset: the first children in order, or the last ones.
async fn children(reader: &dyn Reader, subset: &Subset, parent: &RawBson) -> Result<RawArrayBuf> {
    let find = Find {
        limit: Some(subset.limit.unsigned_abs()),
        ..children_in_order(subset, parent)
    };
    let mut found = Vec::new();
    reader
        .find(&find, &mut |_, child| {
            found.push(shown(subset, child)?);
            Ok(ControlFlow::Continue(()))
        })
        .await?;
    if subset.limit < 0 {
        found.reverse();
    }
    let mut array = RawArrayBuf::new();
    for child in found {
        array.push(child);
    }
    Ok(array)
}
