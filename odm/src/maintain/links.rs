//! Two-way references: both sides of a pair say the same.
//!
//! Whoever wrote to one side has stated a fact; the other side follows, and whoever loses by it lets
//! go. Of two that claim the same document in one unit, the later wins.

use std::collections::{BTreeMap, HashMap, HashSet};

use bson::{RawArrayBuf, RawBson, RawDocument, RawDocumentBuf};

use super::{
    delete_rules::{nullified, pulled},
    unit::{Touched, Unit, id},
};
use crate::{
    catalog::{Edge, Holds, OnDelete, references},
    error::{Error, ErrorKind, Result, show},
    mql::{key, path},
    store::{Flow, Reader},
};

/// Brings the other sides of the references in step that the user's own write changed.
pub(super) async fn apply(unit: &mut Unit<'_>, collection: &str, touched: &Touched) -> Result<()> {
    let catalog = unit.catalog;
    for edge in catalog.edges_from(collection) {
        let Some(other) = edge
            .inverse
            .as_ref()
            .and_then(|path| catalog.edge(&edge.to, path))
        else {
            continue;
        };
        let mut lost = Vec::new();
        for &place in &touched.places {
            let effect = &unit.changes.of(collection)[place];
            let (before, Some(after)) = (effect.before.as_deref(), effect.after.as_deref()) else {
                continue;
            };
            let own = RawBson::from(id(after));
            let held = before
                .map(|before| targets(before, edge))
                .unwrap_or_default();
            let wanted = targets(after, edge);
            if held.keys().eq(wanted.keys()) {
                continue;
            }
            once(edge, after, &own)?;
            let added = wanted.iter().filter(|(key, _)| !held.contains_key(*key));
            let added: Vec<RawBson> = added.map(|(_, target)| target.clone()).collect();
            let gone = held
                .into_iter()
                .filter(|(key, _)| !wanted.contains_key(key));
            lost.extend(gone.map(|(_, target)| (own.clone(), target)));
            for target in added {
                attach(unit, edge, other, &own, &target).await?;
            }
        }
        // After all claims: what one lets go, another may have taken.
        for (own, target) in lost {
            detach(unit, other, &target, &own).await?;
        }
    }
    Ok(())
}

/// What a document refers to along an edge.
fn targets(document: &RawDocument, edge: &Edge) -> BTreeMap<Vec<u8>, RawBson> {
    let mut targets = BTreeMap::new();
    references(document, &edge.path, |target| {
        targets.insert(key::of(target), target.into());
    });
    targets
}

/// A list of a pair holds no reference twice: the other side has no place to say so.
fn once(edge: &Edge, document: &RawDocument, own: &RawBson) -> Result<()> {
    let mut seen = HashSet::new();
    let mut twice = None;
    references(document, &edge.path, |target| {
        if !seen.insert(key::of(target)) {
            twice = Some(RawBson::from(target));
        }
    });
    match twice {
        None => Ok(()),
        Some(target) => {
            let message = format!(
                "`{}` of the document with the `_id` {} in `{}` refers twice to the `_id` {} in \
                 `{}`, which can point back only once",
                edge.path,
                show(own),
                edge.from,
                show(&target),
                edge.to
            );
            Err(Error::new(ErrorKind::InvalidUpdate, message).at(
                &edge.from,
                Some(&edge.path),
                Some(own.clone()),
            ))
        }
    }
}

/// Makes the document at the other end point back.
async fn attach(
    unit: &mut Unit<'_>,
    edge: &Edge,
    other: &Edge,
    own: &RawBson,
    target: &RawBson,
) -> Result<()> {
    // One that is not there is found as a reference that leads nowhere.
    let Some(document) = unit.get(&edge.to, target).await? else {
        return Ok(());
    };
    let held = targets(&document, other);
    if held.contains_key(&key::of(own.as_raw_bson_ref())) {
        return Ok(());
    }
    if other.holds == Holds::Many {
        let mut list = list(&document, other);
        list.push(own.clone());
        return set(unit, other, target, RawBson::Array(list)).await;
    }
    set(unit, other, target, own.clone()).await?;
    for previous in held.into_values() {
        detach(unit, edge, &previous, target).await?;
    }
    Ok(())
}

/// Makes a document let go of another, if it still holds it.
async fn detach(unit: &mut Unit<'_>, edge: &Edge, from: &RawBson, target: &RawBson) -> Result<()> {
    let Some(document) = unit.get(&edge.from, from).await? else {
        return Ok(());
    };
    let lost = key::of(target.as_raw_bson_ref());
    if !targets(&document, edge).contains_key(&lost) {
        return Ok(());
    }
    match edge.holds {
        Holds::Many => {
            let mut left = RawArrayBuf::new();
            for element in list(&document, edge).into_iter().flatten() {
                if key::of(element) != lost {
                    left.push(element);
                }
            }
            set(unit, edge, from, RawBson::Array(left)).await
        }
        Holds::Perhaps => set(unit, edge, from, RawBson::Null).await,
        Holds::One => {
            let message = format!(
                "`{}` of the document with the `_id` {} in `{}` cannot be empty, and would lose the \
                 `_id` {} that it refers to: give it another first",
                edge.path,
                show(from),
                edge.from,
                show(target)
            );
            Err(Error::new(ErrorKind::InvalidUpdate, message).at(
                &edge.from,
                Some(&edge.path),
                Some(from.clone()),
            ))
        }
    }
}

fn list(document: &RawDocumentBuf, edge: &Edge) -> RawArrayBuf {
    match path::lookup(document, &edge.path) {
        path::Lookup::Array(list, None) => list.to_owned(),
        _ => RawArrayBuf::new(),
    }
}

async fn set(unit: &mut Unit<'_>, edge: &Edge, id: &RawBson, value: RawBson) -> Result<()> {
    let fields = vec![(edge.path.clone(), Some(value))];
    unit.set_facts(&edge.from, id, fields).await
}

/// The documents at the other end of a reference in these documents, by `_id`.
pub(super) async fn at_the_other_end(
    reader: &dyn Reader,
    edge: &Edge,
    documents: &[RawDocumentBuf],
) -> Result<HashMap<Vec<u8>, RawDocumentBuf>> {
    let mut ids = BTreeMap::new();
    for document in documents {
        ids.extend(targets(document, edge));
    }
    let ids: Vec<RawBson> = ids.into_values().collect();
    let mut there = HashMap::new();
    let each = &mut |_, document: &RawDocument| {
        there.insert(key::of(id(document)), document.to_owned());
        Ok(Flow::More)
    };
    if !ids.is_empty() {
        reader.get(&edge.to, &ids, each).await?;
    }
    Ok(there)
}

/// Whether a document refers to another along an edge.
pub(super) fn points(document: &RawDocument, edge: &Edge, to: &RawDocument) -> bool {
    targets(document, edge).contains_key(&key::of(id(to)))
}

/// Makes the references of documents lead somewhere, and back, as far as that can be known.
pub(super) async fn mend(unit: &mut Unit<'_>, edge: &Edge, ids: &[RawBson]) -> Result<()> {
    let other = unit.catalog.inverse_of(edge);
    for document in unit.get_many(&edge.from, ids).await? {
        let own = RawBson::from(id(&document));
        let documents = std::slice::from_ref(&document);
        let there = at_the_other_end(&*unit.transaction, edge, documents).await?;
        let mut gone = HashSet::new();
        for (key, target) in targets(&document, edge) {
            let Some(at_end) = there.get(&key) else {
                gone.insert(key);
                continue;
            };
            let Some(other) = other.filter(|other| !points(at_end, other, &document)) else {
                continue;
            };
            let elsewhere = other.holds != Holds::Many && !targets(at_end, other).is_empty();
            let decides = edge.holds != Holds::Many || other.holds == Holds::Many;
            if decides && !elsewhere {
                attach(unit, edge, other, &own, &target).await?;
            } else if edge.holds != Holds::One {
                detach(unit, edge, &own, &target).await?;
            } else if other.holds == Holds::Perhaps {
                attach(unit, edge, other, &own, &target).await?;
            }
        }
        if !gone.is_empty() {
            let fields = match (&edge.on_delete, &edge.list) {
                (OnDelete::Pull, Some(list)) => pulled(&document, edge, list, &gone),
                (OnDelete::Nullify, _) => nullified(&document, edge, &gone),
                _ => continue,
            };
            unit.set_facts(&edge.from, &own, fields).await?;
        }
    }
    Ok(())
}
