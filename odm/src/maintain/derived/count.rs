//! Counts: how many children a parent has.
//!
//! A count changes by the difference that the unit makes under its present definition, so that its
//! work does not grow with the children. The children are counted only if no right number is stored: if it is missing or pending,
//! and in a repair.

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;
use bson::{RawBson, RawBsonRef, RawDocument, spec::ElementType};
use odm_mql::{Filter, Test, key, path};
use odm_store::{Find, FindByKey, Result, mutants::mutant};

use super::{Derivation, DerivedKind, Inputs, counts, deferred_step, of_kind, step_name};
use crate::{
    catalog::{CountDefinition, DerivedField, FromDerived, OrderedField, references},
    maintain::{
        outbox::Target,
        places::FieldValues,
        unit::{Doc, Image, Unit, id},
    },
};

/// The kind `#[count]`.
pub(in crate::maintain) struct Counts;

#[async_trait]
impl Derivation for Counts {
    async fn refresh(&self, unit: &mut Unit<'_>, level: &[OrderedField<'_>]) -> Result<()> {
        for ordered in level {
            if let Some(count) = CountDefinition::from_derived(ordered.field) {
                let deferred = refresh(unit, count, ordered).await?;
                let name = || step_name([&*count.path].into_iter(), &count.parent);
                unit.end_step(name);
                unit.queue_refreshes(deferred).await?;
                unit.end_step(|| deferred_step(name()));
            }
        }
        Ok(())
    }

    async fn differences(
        &self,
        lookup: &mut dyn Inputs,
        fields: &[&DerivedField],
        documents: &[Doc],
    ) -> Result<Vec<FieldValues>> {
        let mut differences = vec![FieldValues::new(); documents.len()];
        for count in of_kind::<CountDefinition>(fields) {
            let ids = documents.iter().map(|document| id(document).into());
            let numbers = lookup.count_by_key(&children(count, ids.collect())).await?;
            for ((document, number), fields) in documents.iter().zip(numbers).zip(&mut differences)
            {
                let number = i64::try_from(number).unwrap_or(i64::MAX);
                fields.extend(difference(count, document, number));
            }
        }
        Ok(differences)
    }

    fn kind(&self) -> DerivedKind {
        DerivedKind::Count
    }
}

/// A parent whose count may be wrong.
struct StaleCount {
    id: RawBson,
    /// The difference that the unit makes to the count, if it is known.
    by: Option<i64>,
    /// The unit has written the parent, and may have stored another number.
    is_written: bool,
}

/// Returns the targets that are left to the worker of the outbox.
async fn refresh(
    unit: &mut Unit<'_>,
    count: &CountDefinition,
    ordered: &OrderedField<'_>,
) -> Result<Vec<Target>> {
    let mut stale = stale(unit, count)?;
    let mut deferred = Vec::new();
    if unit.defers(count) {
        stale.retain(|_, StaleCount { id, is_written, .. }| {
            if !*is_written && !mutant("deferred count") {
                deferred.push(Target::field(&count.parent, &count.path, id.clone()));
            }
            *is_written
        });
    }
    for id in unit.outbox.due_fields(&count.parent, &count.path) {
        let key = key::of(id.as_raw_bson_ref());
        let due = StaleCount {
            id,
            by: None,
            is_written: false,
        };
        stale.insert(key, due);
    }
    stale.retain(|_, StaleCount { id, .. }| !unit.leaves_out(&count.parent, id));
    let stale: Vec<StaleCount> = stale.into_values().collect();
    let counts_all = !unit.policy.trusts_stored || ordered.is_pending;
    let is_certain = unit.catalog.is_certain(&count.child, &count.reference);
    for chunk in stale.chunks(unit.bounds.chunk) {
        let ids: Vec<RawBson> = chunk.iter().map(|stale| stale.id.clone()).collect();
        let by_children = chunk.iter().filter(|stale| stale.by != Some(0));
        unit.share(&count.parent, by_children.map(|stale| &stale.id));
        unit.load(&count.parent, &ids).await?;
        let mut numbers: Vec<(usize, i64)> = Vec::new();
        let mut counted: Vec<(usize, RawBson)> = Vec::new();
        let images = unit.images(&count.parent);
        for StaleCount { id, by, .. } in chunk {
            let at = images.position(&key::of(id.as_raw_bson_ref()));
            // A child may reference a parent that does not exist yet, and is counted when the parent is inserted.
            let Some((at, image)) = at.map(|at| (at, images.at(at))) else {
                continue;
            };
            if image.now().is_none() {
                continue;
            }
            // If the sum is out of range, the stored number is wrong.
            let known = base(count, image, is_certain).zip(*by);
            match known.and_then(|(base, by)| base.checked_add(by)) {
                Some(number) if !counts_all => numbers.push((at, number)),
                _ => counted.push((at, id.clone())),
            }
        }
        if !counted.is_empty() {
            let ids = counted.iter().map(|(_, id)| id.clone()).collect();
            let found = unit.count_by_key(&children(count, ids)).await?;
            let found = found.into_iter();
            let found = found.map(|number| i64::try_from(number).unwrap_or(i64::MAX));
            numbers.extend(counted.iter().map(|(at, _)| *at).zip(found));
        }
        for (at, number) in numbers {
            let document = unit.document(&count.parent, at);
            let fields = document.and_then(|document| difference(count, document, number));
            let fields = FieldValues::from_iter(fields);
            unit.set_derived(&count.parent, at, fields).await?;
        }
        if stale.len() > unit.bounds.chunk {
            unit.end_chunk(&count.parent, ordered.is_holder_read)
                .await?;
        }
    }
    Ok(deferred)
}

/// The difference that the unit makes to the count of each parent, by the key of its `_id`; `None` where it is not known.
pub(in crate::maintain) fn count_changes(
    unit: &Unit<'_>,
    count: &CountDefinition,
) -> Result<Vec<(Vec<u8>, Option<i64>)>> {
    let stale = stale(unit, count)?.into_iter();
    Ok(stale.map(|(key, stale)| (key, stale.by)).collect())
}

/// The parents whose counts may be wrong, by the keys of their `_id`s.
fn stale(unit: &Unit<'_>, count: &CountDefinition) -> Result<BTreeMap<Vec<u8>, StaleCount>> {
    let mut stale: BTreeMap<Vec<u8>, StaleCount> = BTreeMap::new();
    for (_, image) in unit.images(&count.child).changed() {
        let mut add = |child: &Doc, by: Option<i64>| {
            for (key, id) in parents(count, child) {
                let stale = stale.entry(key).or_insert(StaleCount {
                    id,
                    by: Some(0),
                    is_written: false,
                });
                stale.by = stale.by.zip(by).and_then(|(sum, by)| sum.checked_add(by));
            }
        };
        if let Some(before) = image.before() {
            match counts(count, before) {
                Ok(true) if mutant("decrement of a count") => {}
                Ok(true) => add(before, Some(-1)),
                Ok(false) => {}
                // The child was stored by a write that did not know the filter, so it is unknown whether it counted.
                Err(_) => add(before, None),
            }
        }
        if let Some(now) = image.now()
            && counts(count, now)?
            && !mutant("increment of a count")
        {
            add(now, Some(1));
        }
    }
    stale.retain(|_, stale| stale.by != Some(0));
    // A document that was written as a whole has the number that the caller sent.
    for (_, image) in unit.images(&count.parent).changed() {
        let Some(now) = image.now() else { continue };
        let number = |document: &Doc| integer(path::get(document, &count.path));
        let before = image.before().map(number);
        if before != Some(number(now)) && !mutant("count that was sent") {
            let id = RawBson::from(id(now));
            let key = key::of(id.as_raw_bson_ref());
            let stale = stale.entry(key).or_insert(StaleCount {
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
fn base(count: &CountDefinition, image: &Image, is_certain: bool) -> Option<i64> {
    match image.before() {
        Some(before) => integer(path::get(before, &count.path)),
        // A new document has no children except from this unit.
        None => (is_certain || mutant("count of a parent that comes back")).then_some(0),
    }
}

/// The query for the children of these parents that count.
fn children(count: &CountDefinition, parents: Vec<RawBson>) -> FindByKey {
    FindByKey {
        find: Find {
            collection: count.child.clone(),
            filter: (*count.filter).clone(),
            ..Find::default()
        },
        path: count.reference.clone(),
        keys: parents,
    }
}

/// The distinct parents of a child.
fn parents(count: &CountDefinition, child: &RawDocument) -> HashMap<Vec<u8>, RawBson> {
    let mut parents = HashMap::new();
    references(child, &count.reference, |parent| {
        parents.insert(key::of(parent), parent.into());
    });
    parents
}

/// The field with the right number, if the document has another.
fn difference(
    count: &CountDefinition,
    document: &RawDocument,
    number: i64,
) -> Option<(String, Option<RawBson>)> {
    let stored = path::get(document, &count.path);
    if integer(stored) == Some(number) {
        return None;
    }
    // The stored integer type stays.
    let number = match (stored, i32::try_from(number)) {
        (Some(RawBsonRef::Int32(_)), Ok(number)) => RawBson::Int32(number),
        _ => RawBson::Int64(number),
    };
    Some((count.path.clone(), Some(number)))
}

/// The filter of documents in which [`integer`] finds a number.
pub(in crate::maintain) fn is_number(path: &str) -> Filter {
    let has = |test| Filter::Path(path.to_owned().into(), test);
    let integer = Test::Type(vec![ElementType::Int32, ElementType::Int64]);
    // A test of an array also tests its elements.
    let is_array = Test::Type(vec![ElementType::Array]);
    has(integer).and(has(Test::Not(vec![is_array])))
}

fn integer(value: Option<RawBsonRef<'_>>) -> Option<i64> {
    match value {
        Some(RawBsonRef::Int32(number)) => Some(number.into()),
        Some(RawBsonRef::Int64(number)) => Some(number),
        _ => None,
    }
}
