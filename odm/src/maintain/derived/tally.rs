//! Fields that follow from the number of a parent's children.
//!
//! The difference that the unit makes to the number, under the present definition, gives the new value as a rule, so that its work does not
//! grow with the children. They are searched only if it does not, or if no right value is stored: if it is missing or pending, and in a repair.

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;
use bson::{RawBson, RawBsonRef, RawDocument};
use odm_mql::{Filter, key, path};
use odm_store::{Find, FindByKey, Result, mutants::mutant};

use super::{Inputs, counts, deferred_step, of_kind, step_name};
use crate::{
    catalog::{DerivedField, FieldDefinition, FromDerived, OrderedField, references},
    maintain::{
        outbox::Target,
        places::FieldValues,
        unit::{Doc, Image, Unit, id},
    },
};

/// A field that follows from the number of a parent's children.
#[async_trait]
pub(super) trait Tally: FieldDefinition + FromDerived + Sync {
    /// The path of the children's reference to the holder.
    fn reference(&self) -> &str;

    /// The number for which a value stands, if it is one.
    fn number(value: Option<RawBsonRef<'_>>) -> Option<i64>;

    /// The number after the difference of a unit, if it follows from the number before.
    fn after(before: Option<i64>, by: i64) -> Option<i64>;

    /// The value for a number, in the place of another.
    fn value(stored: Option<RawBsonRef<'_>>, number: i64) -> RawBson;

    /// The number of children of each of these parents, as far as the value needs it.
    async fn search(inputs: &mut dyn Inputs, children: FindByKey) -> Result<Vec<i64>>;
}

/// Recomputes the fields of a kind in a level.
pub(super) async fn refresh_level<T: Tally>(
    unit: &mut Unit<'_>,
    level: &[OrderedField<'_>],
) -> Result<()> {
    for ordered in level {
        if let Some(tally) = T::from_derived(ordered.field) {
            let deferred = refresh(unit, tally, ordered).await?;
            let name = || step_name([&*tally.path()].into_iter(), tally.holder());
            unit.end_step(name);
            unit.queue_refreshes(deferred).await?;
            unit.end_step(|| deferred_step(name()));
        }
    }
    Ok(())
}

/// Returns for each document the fields of a kind that differ from their definitions.
pub(super) async fn differences<T: Tally>(
    lookup: &mut dyn Inputs,
    fields: &[&DerivedField],
    documents: &[Doc],
) -> Result<Vec<FieldValues>> {
    let mut differences = vec![FieldValues::new(); documents.len()];
    for tally in of_kind::<T>(fields) {
        let ids = documents.iter().map(|document| id(document).into());
        let numbers = T::search(lookup, children(tally, ids.collect())).await?;
        for ((document, number), fields) in documents.iter().zip(numbers).zip(&mut differences) {
            fields.extend(difference(tally, document, number));
        }
    }
    Ok(differences)
}

/// A field of a parent that may be wrong.
struct StaleTally {
    id: RawBson,
    /// The difference that the unit makes to the number, if it is known.
    by: Option<i64>,
    /// The unit has written the parent, and may have stored another value.
    is_written: bool,
}

/// Returns the targets that are left to the worker of the outbox.
async fn refresh<T: Tally>(
    unit: &mut Unit<'_>,
    tally: &T,
    ordered: &OrderedField<'_>,
) -> Result<Vec<Target>> {
    let (parent, path) = (tally.holder(), tally.path());
    let mut stale = stale(unit, tally)?;
    let mut deferred = Vec::new();
    if unit.defers(tally) {
        stale.retain(|_, StaleTally { id, is_written, .. }| {
            if !*is_written && !mutant("deferred count") {
                deferred.push(Target::field(parent, &path, id.clone()));
            }
            *is_written
        });
    }
    for id in unit.outbox.due_fields(parent, &path) {
        let key = key::of(id.as_raw_bson_ref());
        let due = StaleTally {
            id,
            by: None,
            is_written: false,
        };
        stale.insert(key, due);
    }
    stale.retain(|_, StaleTally { id, .. }| !unit.leaves_out(parent, id));
    let stale: Vec<StaleTally> = stale.into_values().collect();
    let searches_all = !unit.policy.trusts_stored || ordered.is_pending;
    let is_certain = unit.catalog.is_certain(tally.source(), tally.reference());
    for chunk in stale.chunks(unit.bounds.chunk) {
        let ids: Vec<RawBson> = chunk.iter().map(|stale| stale.id.clone()).collect();
        let by_children = chunk.iter().filter(|stale| stale.by != Some(0));
        unit.share(parent, by_children.map(|stale| &stale.id));
        unit.load(parent, &ids).await?;
        let mut numbers: Vec<(usize, i64)> = Vec::new();
        let mut searched: Vec<(usize, RawBson)> = Vec::new();
        let images = unit.images(parent);
        for StaleTally { id, by, .. } in chunk {
            let at = images.position(&key::of(id.as_raw_bson_ref()));
            // A child may reference a parent that does not exist yet, and counts when the parent is inserted.
            let Some((at, image)) = at.map(|at| (at, images.at(at))) else {
                continue;
            };
            if image.now().is_none() {
                continue;
            }
            let base = base(tally, image, is_certain);
            match by.and_then(|by| T::after(base, by)) {
                Some(number) if !searches_all => numbers.push((at, number)),
                _ => searched.push((at, id.clone())),
            }
        }
        if !searched.is_empty() {
            let ids = searched.iter().map(|(_, id)| id.clone()).collect();
            let found = T::search(unit, children(tally, ids)).await?;
            numbers.extend(searched.iter().map(|(at, _)| *at).zip(found));
        }
        for (at, number) in numbers {
            let document = unit.document(parent, at);
            let fields = document.and_then(|document| difference(tally, document, number));
            let fields = FieldValues::from_iter(fields);
            unit.set_derived(parent, at, fields).await?;
        }
        if stale.len() > unit.bounds.chunk {
            unit.end_chunk(parent, ordered.is_holder_read).await?;
        }
    }
    Ok(deferred)
}

/// The difference that the unit makes to the number of each parent, by the key of its `_id`; `None` where it is not known.
pub(super) fn changes<T: Tally>(unit: &Unit<'_>, tally: &T) -> Result<Vec<(Vec<u8>, Option<i64>)>> {
    let stale = stale(unit, tally)?.into_iter();
    Ok(stale.map(|(key, stale)| (key, stale.by)).collect())
}

/// The parents whose fields may be wrong, by the keys of their `_id`s.
fn stale<T: Tally>(unit: &Unit<'_>, tally: &T) -> Result<BTreeMap<Vec<u8>, StaleTally>> {
    let mut stale: BTreeMap<Vec<u8>, StaleTally> = BTreeMap::new();
    for (_, image) in unit.images(tally.source()).changed() {
        let mut add = |child: &Doc, by: Option<i64>| {
            for (key, id) in parents(tally, child) {
                let stale = stale.entry(key).or_insert(StaleTally {
                    id,
                    by: Some(0),
                    is_written: false,
                });
                stale.by = stale.by.zip(by).and_then(|(sum, by)| sum.checked_add(by));
            }
        };
        if let Some(before) = image.before() {
            match counts(tally, before) {
                Ok(true) if mutant("decrement of a count") => {}
                Ok(true) => add(before, Some(-1)),
                Ok(false) => {}
                // The child was stored by a write that did not know the filter, so it is unknown whether it counted.
                Err(_) => add(before, None),
            }
        }
        if let Some(now) = image.now()
            && counts(tally, now)?
            && !mutant("increment of a count")
        {
            add(now, Some(1));
        }
    }
    stale.retain(|_, stale| stale.by != Some(0));
    // A document that was written as a whole has the value that the caller sent.
    let path = tally.path();
    for (_, image) in unit.images(tally.holder()).changed() {
        let Some(now) = image.now() else { continue };
        let number = |document: &Doc| T::number(path::get(document, &path));
        let before = image.before().map(number);
        if before != Some(number(now)) && !mutant("count that was sent") {
            let id = RawBson::from(id(now));
            let key = key::of(id.as_raw_bson_ref());
            let stale = stale.entry(key).or_insert(StaleTally {
                id,
                by: Some(0),
                is_written: true,
            });
            stale.is_written = true;
        }
    }
    Ok(stale)
}

/// The right number before the unit, if it is known.
fn base<T: Tally>(tally: &T, image: &Image, is_certain: bool) -> Option<i64> {
    match image.before() {
        Some(before) => T::number(path::get(before, &tally.path())),
        // A new document has no children except from this unit.
        None => (is_certain || mutant("count of a parent that comes back")).then_some(0),
    }
}

/// The query for the children of these parents that count.
fn children(tally: &impl Tally, parents: Vec<RawBson>) -> FindByKey {
    FindByKey {
        find: Find {
            collection: tally.source().to_owned(),
            filter: tally
                .filter()
                .map_or_else(Filter::default, |filter| (**filter).clone()),
            ..Find::default()
        },
        path: tally.reference().to_owned(),
        keys: parents,
    }
}

/// The distinct parents of a child.
fn parents(tally: &impl Tally, child: &RawDocument) -> HashMap<Vec<u8>, RawBson> {
    let mut parents = HashMap::new();
    references(child, tally.reference(), |parent| {
        parents.insert(key::of(parent), parent.into());
    });
    parents
}

/// The field with the right value, if the document has another.
fn difference<T: Tally>(
    tally: &T,
    document: &RawDocument,
    number: i64,
) -> Option<(String, Option<RawBson>)> {
    let path = tally.path();
    let stored = path::get(document, &path);
    let differs = T::number(stored) != Some(number);
    differs.then(|| (path.into_owned(), Some(T::value(stored, number))))
}
