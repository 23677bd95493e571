//! Derived fields that are refreshed in documents that are not read.
//!
//! What a new child changes in its parent follows from the child alone, unless something there is not as it should be: the
//! count is one more, and the child is added to the subset, which is sorted and cut. What a renamed source changes in the
//! documents that refer to it follows from the source alone. A store that takes fewer requests for such updates than for
//! reads gets them with the batch. Their filters state what they rely on. A parent that does not match is read, and refreshed
//! as any other.

use std::collections::{BTreeMap, BTreeSet};

use bson::RawBson;
use odm_mql::{Filter, Operation, Update};
use odm_store::Result;

use super::{copy, count, subset};
use crate::{
    catalog::{CopyDefinition, CountDefinition, Following, FromDerived, SubsetDefinition},
    maintain::unit::{DocumentKey, Unit},
};

/// What becomes of a field of a parent, and what the parent must match for that.
pub(super) struct BlindChange {
    pub(super) operation: Operation,
    pub(super) filter: Filter,
}

/// Lets the refresh leave to blind updates the documents in which they can do all that follows from the unit.
pub(super) fn leave_unread(unit: &mut Unit<'_>) {
    if !unit.has_blind_updates() {
        return;
    }
    let following = unit.catalog.following(
        |collection| unit.images(collection).changed().next().is_some(),
        |field| !unit.defers(&**field),
    );
    let mut holders: BTreeMap<&str, Vec<Following<'_>>> = BTreeMap::new();
    for field in following {
        let fields = holders.entry(field.ordered.field.holder()).or_default();
        fields.push(field);
    }
    holders.retain(|holder, fields| {
        let mut all = fields.iter();
        all.all(|field| !field.ordered.is_read && !field.ordered.is_pending)
            && (are_of_sources(unit, fields)
                || (are_of_children(unit, fields) && unit.catalog.tries_blind(holder)))
    });
    let unread = holders.into_keys().map(str::to_owned).collect();
    unit.leave_unread(unread);
}

/// Whether the refresh may change documents of a collection, where inverse references have changed in documents to which
/// those of another one refer.
pub(in crate::maintain) fn refreshes(unit: &Unit<'_>, holder: &str, from: &str) -> bool {
    let catalog = unit.catalog;
    let inverses = catalog.edges_from(from);
    let inverses = inverses.filter(|edge| catalog.inverse_of(edge).is_some());
    let inverses: BTreeSet<&str> = inverses.map(|edge| &*edge.to).collect();
    let following = catalog.following(
        |collection| {
            inverses.contains(collection) || unit.images(collection).changed().next().is_some()
        },
        |field| !unit.defers(&**field),
    );
    let mut holders = following.iter().map(|field| field.ordered.field.holder());
    holders.any(|of| of == holder)
}

/// Whether fields follow from children, of which the refresh changes nothing that matters, and if subsets show them, from new
/// ones alone.
fn are_of_children(unit: &Unit<'_>, fields: &[Following<'_>]) -> bool {
    fields.iter().all(|following| {
        let field = following.ordered.field;
        if following.follows_derived {
            return false;
        }
        if CountDefinition::from_derived(field).is_some() {
            return true;
        }
        let mut changed = unit.images(field.source()).changed();
        SubsetDefinition::from_derived(field).is_some_and(|subset| {
            subset::is_blind(subset) && changed.all(|(_, image)| image.before().is_none())
        })
    })
}

/// Whether fields are copies beside one reference, and are refreshed together.
fn are_of_sources(unit: &Unit<'_>, fields: &[Following<'_>]) -> bool {
    let are_together = fields.windows(2).all(|pair| pair[0].level == pair[1].level);
    let copies = fields.iter().filter(|_| are_together);
    let copies = copies.map(|field| CopyDefinition::from_derived(field.ordered.field));
    let Some(copies) = copies.collect::<Option<Vec<&CopyDefinition>>>() else {
        return false;
    };
    !copies.is_empty()
        && copies.iter().all(|copy| copy::is_blind(unit.catalog, copy))
        && copies.windows(2).all(|pair| pair[0].along == pair[1].along)
}

/// Queues the updates of the parents that were left out. Returns those that have to be read after all.
pub(super) fn update(unit: &mut Unit<'_>) -> Result<BTreeSet<DocumentKey>> {
    let mut unread = BTreeSet::new();
    let mut updates: BTreeMap<DocumentKey, (RawBson, Filter, Update)> = BTreeMap::new();
    for (document, id) in unit.take_left() {
        match unit.images(&document.0).position(&document.1) {
            Some(_) => drop(unread.insert(document)),
            None => drop(updates.insert(document, (id, Filter::default(), Update::default()))),
        }
    }
    if updates.is_empty() {
        return Ok(unread);
    }
    for field in unit.catalog.levels().flatten().map(|ordered| ordered.field) {
        let holder = field.holder();
        let is_left = updates.keys().any(|(collection, _)| collection == holder);
        if !is_left || unit.defers(&**field) {
            continue;
        }
        let changes = if let Some(count) = CountDefinition::from_derived(field) {
            count::blind_changes(unit, count)?
        } else if let Some(subset) = SubsetDefinition::from_derived(field) {
            subset::blind_changes(unit, subset)?
        } else {
            continue;
        };
        for (key, change) in changes {
            let document = (holder.to_owned(), key);
            let Some((_, conditions, update)) = updates.get_mut(&document) else {
                continue;
            };
            match change {
                Some(BlindChange { operation, filter }) => {
                    update.push(field.path().into_owned(), operation);
                    *conditions = std::mem::take(conditions).and(filter);
                }
                None => {
                    updates.remove(&document);
                    unread.insert(document);
                }
            }
        }
    }
    for ((holder, _), (id, filter, update)) in updates {
        if !update.is_empty() {
            unit.share(&holder, [&id]);
            unit.update_blind(&holder, id, (filter, update));
        }
    }
    Ok(unread)
}
