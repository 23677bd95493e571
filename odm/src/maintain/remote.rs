//! Stores that are not serializable: their transactions run side by side, each on a snapshot, and each of their
//! requests takes long.
//!
//! `docs/dev/remote.md` describes the three parts. [`locks`] keep two units apart if each reads documents that the other writes.
//! [`single`] finds the writes of one document that need no transaction. The rest refreshes documents that the unit does not
//! read: the effect of a new child on its parent can be computed from the child, and the effect of a renamed source on its
//! referrers from the source, provided that the documents are consistent. The filter of such an update states this premise. A
//! document that does not match is read, and refreshed as any other, in the same transaction.
//!
//! On a serializable store, no unit makes unread updates, and locks do nothing.

pub(super) mod copies;
mod counts;
mod existences;
mod extremes;
mod lists;
mod locks;
pub(super) mod single;
mod subsets;
mod sums;
pub(super) mod unread;

use std::collections::{BTreeMap, BTreeSet};

use bson::RawBson;
use futures_core::future::BoxFuture;
use odm_mql::{Filter, Operation, Update};
use odm_store::Result;

use super::{
    derived::{Derivation, Subsets, Tallies, is_followed},
    inverse,
    unit::Unit,
};
use crate::catalog::{
    CopyDefinition, CountDefinition, DerivedField, ExistsDefinition, Following, FromDerived,
    MaxDefinition, MinDefinition, SumDefinition,
};
use lists::ListUpdates;
use unread::{DocumentKey, Settled};

/// A kind of derived field in a parent that an update can refresh in an unread document.
trait Remote: Derivation {
    /// Whether updates can refresh a field, after the changes that a unit has made so far. `false` for a field of another kind.
    fn can_update(&self, unit: &Unit<'_>, field: &DerivedField) -> bool;

    /// The change of a field of this kind in each parent, by the key of its `_id`: `None` where the parent must be read.
    fn changes(
        &self,
        unit: &Unit<'_>,
        field: &DerivedField,
    ) -> Result<Vec<(Vec<u8>, Option<FieldUpdate>)>>;
}

/// The kinds that have such updates. A parent with a field of another kind is read.
const KINDS: [&dyn Remote; 6] = [
    &Tallies::<CountDefinition>::ALL,
    &Tallies::<ExistsDefinition>::ALL,
    &Tallies::<MaxDefinition>::ALL,
    &Tallies::<MinDefinition>::ALL,
    &Subsets,
    &Tallies::<SumDefinition>::ALL,
];

/// The update of a field, and its premise.
struct FieldUpdate {
    operation: Operation,
    filter: Filter,
}

/// The refreshes that the current page of a unit leaves to unread updates. The end of the page, or of the unit, takes it.
#[must_use]
#[derive(Default)]
pub(super) struct Unread<'c> {
    lists: ListUpdates<'c>,
}

impl<'c> Unread<'c> {
    /// Changes the inverses of the references that were changed in these documents, or leaves them to updates.
    pub(super) fn follow_references<'f>(
        &'f mut self,
        unit: &'f mut Unit<'c>,
        collection: &'f str,
        positions: &'f [usize],
    ) -> BoxFuture<'f, Result<()>> {
        Box::pin(async move {
            let left = inverse::apply(unit, collection, positions, lists::can_update).await?;
            for (edge, list, changes) in left {
                self.lists.add(edge, list, changes);
            }
            Ok(())
        })
    }

    /// Begins the refresh of derived fields: it leaves out the collections in which updates can make all changes that the unit
    /// causes.
    pub(super) fn begin_refresh(&self, unit: &mut Unit<'_>) {
        if !unit.has_unread_updates() {
            return;
        }
        let following = unit.catalog.following(
            |field| match field {
                DerivedField::Ancestors(field) => is_followed(field, unit),
                field => unit.images(field.source()).changed().next().is_some(),
            },
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
                && (are_copies(unit, fields)
                    || (are_of_children(unit, fields) && unit.catalog.tries_unread(holder)))
        });
        let collections = holders.into_keys().map(str::to_owned).collect();
        unit.unread.begin(collections);
    }

    /// Queues the updates of the documents that the refresh has left out, and refreshes the documents that must be read after
    /// all.
    pub(super) fn queue<'f>(&'f mut self, unit: &'f mut Unit<'c>) -> BoxFuture<'f, Result<()>> {
        Box::pin(async move {
            let read = parent_updates(unit)?;
            refresh_parents(unit, read).await?;
            self.lists.queue(unit).await
        })
    }

    /// Ends the unit: writes the queue, and refreshes the documents that did not match their updates.
    pub(super) fn finish<'f>(self, unit: &'f mut Unit<'c>) -> BoxFuture<'f, Result<Settled>> {
        Box::pin(async move {
            unit.flush_all().await?;
            if self.read_unmatched(unit).await? {
                unit.flush_all().await?;
            }
            Ok(Settled(()))
        })
    }

    /// Ends a page of the unit that is not the last.
    pub(super) fn finish_page<'f>(self, unit: &'f mut Unit<'c>) -> BoxFuture<'f, Result<()>> {
        Box::pin(async move {
            unit.flush().await?;
            self.read_unmatched(unit).await.map(drop)
        })
    }

    /// Refreshes the documents that did not match their updates, and returns whether there were any.
    async fn read_unmatched(mut self, unit: &mut Unit<'c>) -> Result<bool> {
        let mut unmatched = unit.unread.take_unmatched();
        if unmatched.is_empty() {
            return Ok(false);
        }
        for (collection, _) in &unmatched {
            unit.catalog.missed_unread(collection);
        }
        self.lists.read_unmatched(unit, &mut unmatched).await?;
        refresh_parents(unit, unmatched).await?;
        Ok(true)
    }
}

/// Whether fields depend on children alone, and each is of a kind that has such updates.
fn are_of_children(unit: &Unit<'_>, fields: &[Following<'_>]) -> bool {
    fields.iter().all(|following| {
        let mut kinds = KINDS.iter();
        !following.follows_derived
            && kinds.any(|kind| kind.can_update(unit, following.ordered.field))
    })
}

/// Whether fields are copies along one reference, and are refreshed together.
fn are_copies(unit: &Unit<'_>, fields: &[Following<'_>]) -> bool {
    let are_together = fields.windows(2).all(|pair| pair[0].level == pair[1].level);
    let copies = fields.iter().filter(|_| are_together);
    let copies = copies.map(|field| CopyDefinition::from_derived(field.ordered.field));
    let Some(copies) = copies.collect::<Option<Vec<&CopyDefinition>>>() else {
        return false;
    };
    !copies.is_empty()
        && copies
            .iter()
            .all(|copy| copies::can_update(unit.catalog, copy))
        && copies.windows(2).all(|pair| pair[0].along == pair[1].along)
}

/// Queues the updates of the parents that the refresh has left out. Returns the parents that have to be read.
fn parent_updates(unit: &mut Unit<'_>) -> Result<BTreeSet<DocumentKey>> {
    let mut read = BTreeSet::new();
    let mut updates: BTreeMap<DocumentKey, (RawBson, Filter, Update)> = BTreeMap::new();
    for (document, id) in unit.unread.take_left() {
        if unit.images(&document.0).position(&document.1).is_some() {
            read.insert(document);
        } else {
            updates.insert(document, (id, Filter::default(), Update::default()));
        }
    }
    if updates.is_empty() {
        return Ok(read);
    }
    for field in unit.catalog.levels().flatten().map(|ordered| ordered.field) {
        let holder = field.holder();
        let is_left = updates.keys().any(|(collection, _)| collection == holder);
        if !is_left || unit.defers(&**field) {
            continue;
        }
        let Some(kind) = KINDS.iter().find(|kind| kind.can_update(unit, field)) else {
            continue;
        };
        for (key, change) in kind.changes(unit, field)? {
            let document = (holder.to_owned(), key);
            let Some((_, conditions, update)) = updates.get_mut(&document) else {
                continue;
            };
            match change {
                Some(FieldUpdate { operation, filter }) => {
                    update.push(field.path().into_owned(), operation);
                    *conditions = std::mem::take(conditions).and(filter);
                }
                None => {
                    updates.remove(&document);
                    read.insert(document);
                }
            }
        }
    }
    for ((holder, _), (id, filter, update)) in updates {
        if !update.is_empty() {
            unit.share(&holder, [&id]);
            unit.unread.update(&holder, id, (filter, update));
        }
    }
    Ok(read)
}

/// Recomputes the derived fields of parents that the refresh has left out. No other field depends on them.
async fn refresh_parents(unit: &mut Unit<'_>, parents: BTreeSet<DocumentKey>) -> Result<()> {
    if parents.is_empty() {
        return Ok(());
    }
    unit.unread.refresh_only(parents);
    for level in unit.catalog.levels() {
        for kind in KINDS {
            kind.refresh(unit, &level).await?;
        }
    }
    Ok(())
}
