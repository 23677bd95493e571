//! Numbers within a parent: the numbers of a sequence that each parent has.
//!
//! A number follows from the history of the documents: it is given when a document comes to its parent, and stays as long as the document
//! does. A document of an import, of a repair, or from before the declaration brings its own, which the counter of the parent follows.

use std::collections::BTreeMap;

use async_trait::async_trait;
use bson::{RawBson, RawBsonRef, RawDocument};
use odm_mql::{Direction, Filter, Projection, Sort, Test, key, path};
use odm_store::{Error, ErrorKind, Find, FindByKey, Result, mutants::mutant, show};

use super::{Derivation, DerivedKind, Inputs, of_kind, referenced, step_name};
use crate::{
    catalog::{
        COUNTERS, DerivedField, FieldDefinition, FromDerived, OnDelete, OrderedField,
        SequenceDefinition, join,
    },
    maintain::{
        places::FieldValues,
        sequence::{SequenceCounter, last_in, whole},
        unit::{Doc, Image, Unit, id},
    },
};

/// The kind `#[sequence]`.
pub(super) struct Sequences;

#[async_trait]
impl Derivation for Sequences {
    async fn refresh(&self, unit: &mut Unit<'_>, level: &[OrderedField<'_>]) -> Result<()> {
        for ordered in level {
            if let Some(sequence) = SequenceDefinition::from_derived(ordered.field) {
                refresh(unit, sequence, ordered.is_pending).await?;
                unit.end_step(|| step_name([&*sequence.path()].into_iter(), sequence.holder()));
            }
        }
        Ok(())
    }

    /// A wrong number comes with itself: the right one is known when the refresh gives it.
    async fn differences(
        &self,
        lookup: &mut dyn Inputs,
        fields: &[&DerivedField],
        documents: &[Doc],
    ) -> Result<Vec<FieldValues>> {
        let mut differences = vec![FieldValues::new(); documents.len()];
        for sequence in of_kind::<SequenceDefinition>(fields) {
            let parents: Vec<Option<RawBson>> = documents
                .iter()
                .map(|document| referenced(document, &sequence.within))
                .collect();
            let counters = parents.iter().flatten();
            let counters = counters.map(|parent| counter(sequence, parent).into_id());
            let counters = lookup.get(COUNTERS, counters.collect()).await?;
            for ((document, parent), fields) in documents.iter().zip(&parents).zip(&mut differences)
            {
                let stored = path::get(document, &sequence.path);
                let is_right = match parent {
                    None => stored.is_none_or(|stored| stored == RawBsonRef::Null),
                    Some(parent) => {
                        let id = counter(sequence, parent).into_id();
                        let counter = counters.get(&key::of(id.as_raw_bson_ref()));
                        let last = counter.and_then(|counter| last_in(counter));
                        number(sequence, document).is_some_and(|number| last >= Some(number))
                    }
                };
                if !is_right {
                    let stored = parent.as_ref().and(stored).map(RawBson::from);
                    fields.push((sequence.path.clone(), stored));
                }
            }
        }
        Ok(differences)
    }

    fn kind(&self) -> DerivedKind {
        DerivedKind::Sequence
    }
}

/// A parent whose counter changes.
struct Numbering {
    parent: RawBson,
    /// The greatest number that documents bring.
    brought: Option<i64>,
    /// The documents that get the next numbers, in order.
    unnumbered: Vec<usize>,
}

async fn refresh(
    unit: &mut Unit<'_>,
    sequence: &SequenceDefinition,
    is_pending: bool,
) -> Result<()> {
    let (holder, trusts_stored) = (sequence.holder(), unit.policy.trusts_stored);
    let mut numberings: BTreeMap<Vec<u8>, Numbering> = BTreeMap::new();
    let mut values: Vec<(usize, Option<RawBson>)> = Vec::new();
    for (at, document) in unit.images(holder).existing() {
        let image = unit.images(holder).at(at);
        if trusts_stored && !image.is_changed() {
            continue;
        }
        let Some(parent) = referenced(document, &sequence.within) else {
            let stored = path::get(document, &sequence.path);
            if stored.is_some_and(|stored| stored != RawBsonRef::Null) {
                values.push((at, None));
            }
            continue;
        };
        let key = key::of(parent.as_raw_bson_ref());
        let kept = kept(sequence, image, &key, trusts_stored);
        if let Some((number, kept)) = kept {
            if path::get(document, &sequence.path) != Some(kept.as_raw_bson_ref()) {
                values.push((at, Some(kept)));
            }
            if trusts_stored && image.before().is_some() || mutant("number that is brought") {
                continue;
            }
            let numbering = numberings.entry(key).or_insert_with(|| parent.into());
            numbering.brought = numbering.brought.max(Some(number));
        } else {
            let numbering = numberings.entry(key).or_insert_with(|| parent.into());
            numbering.unnumbered.push(at);
        }
    }
    for (at, value) in values {
        set(unit, sequence, at, value).await?;
    }
    let numberings: Vec<Numbering> = numberings.into_values().collect();
    for chunk in numberings.chunks(unit.bounds.chunk) {
        number_chunk(unit, sequence, is_pending, chunk).await?;
        if numberings.len() > unit.bounds.chunk {
            unit.forget_all(COUNTERS).await?;
        }
    }
    remove_counters(unit, sequence).await
}

impl From<RawBson> for Numbering {
    fn from(parent: RawBson) -> Self {
        Numbering {
            parent,
            brought: None,
            unnumbered: Vec::new(),
        }
    }
}

/// Gives the next numbers of some parents, and records the last ones.
async fn number_chunk(
    unit: &mut Unit<'_>,
    sequence: &SequenceDefinition,
    is_pending: bool,
    numberings: &[Numbering],
) -> Result<()> {
    let counters: Vec<SequenceCounter> = numberings
        .iter()
        .map(|numbering| counter(sequence, &numbering.parent))
        .collect();
    let positions = SequenceCounter::load(unit, &counters).await?;
    let counters: Vec<_> = counters.iter().zip(positions).collect();
    // Others than the library may have given numbers before the declaration, and a counter that is repaired can be too low.
    let searches_all = is_pending || !unit.policy.trusts_stored;
    let mut given = Vec::with_capacity(counters.len());
    let mut unknown = Vec::new();
    for ((counter, at), numbering) in counters.iter().zip(numberings) {
        let last = counter.last(unit, *at);
        given.push(last);
        if last.is_none() || searches_all {
            unknown.push(numbering.parent.clone());
            // A search would find the numbers that the caller has sent.
            for &at in &numbering.unnumbered {
                set(unit, sequence, at, None).await?;
            }
        }
    }
    let mut greatest = greatest(unit, sequence, unknown).await?.into_iter();
    for (((counter, at), numbering), given) in counters.into_iter().zip(numberings).zip(given) {
        let stored = if given.is_none() || searches_all {
            greatest.next().flatten()
        } else {
            None
        };
        let last = given.max(stored).max(numbering.brought);
        // Another program can have stored a counter below 0.
        let mut last = last.unwrap_or_default().max(0);
        for &at in &numbering.unnumbered {
            let next = last.checked_add(if mutant("gap in a sequence") { 2 } else { 1 });
            let value = next.and_then(|next| Some((next, sequence.value(next)?)));
            let Some((next, value)) = value else {
                return Err(used_up(sequence, &numbering.parent, last));
            };
            last = next;
            set(unit, sequence, at, Some(value)).await?;
        }
        if given != Some(last) {
            counter.set(unit, at, last).await?;
        }
    }
    Ok(())
}

async fn set(
    unit: &mut Unit<'_>,
    sequence: &SequenceDefinition,
    at: usize,
    number: Option<RawBson>,
) -> Result<()> {
    let fields = vec![(sequence.path.clone(), number)];
    unit.set_derived(sequence.holder(), at, fields).await
}

/// Removes the counters of the parents that the unit has removed, unless their documents stay.
async fn remove_counters(unit: &mut Unit<'_>, sequence: &SequenceDefinition) -> Result<()> {
    let parents = unit.catalog.edges_from(sequence.holder());
    let parents =
        parents.filter(|edge| edge.path == sequence.within && edge.on_delete != OnDelete::Keep);
    for edge in parents.collect::<Vec<_>>() {
        let changed = unit.images(&edge.to).changed();
        let gone = changed.filter(|(_, image)| image.now().is_none());
        let gone = gone.filter_map(|(_, image)| image.before());
        let counters: Vec<SequenceCounter> = gone
            .map(|parent| counter(sequence, &id(parent).into()))
            .collect();
        for chunk in counters.chunks(unit.bounds.chunk) {
            for at in SequenceCounter::load(unit, chunk).await? {
                if !mutant("counter of a parent that goes") {
                    unit.remove(COUNTERS, at).await?;
                }
            }
        }
    }
    Ok(())
}

/// The greatest numbers in the documents of these parents.
async fn greatest(
    unit: &mut Unit<'_>,
    sequence: &SequenceDefinition,
    parents: Vec<RawBson>,
) -> Result<Vec<Option<i64>>> {
    if parents.is_empty() {
        return Ok(Vec::new());
    }
    // The last number of the type is in the way of no other.
    let bounds = [
        Test::Gte(RawBson::Int64(1)),
        Test::Lte(RawBson::Int64(sequence.greatest)),
    ];
    let bounds = bounds.map(|test| Filter::Path(sequence.path.clone().into(), test));
    let find = FindByKey {
        find: Find {
            collection: sequence.holder().to_owned(),
            filter: Filter::And(bounds.into()),
            sort: Sort::new().by(sequence.path.clone(), Direction::Descending),
            limit: Some(1),
            projection: Some(Projection::include([sequence.path.clone()])?),
            ..Find::default()
        },
        path: sequence.within.clone(),
        keys: parents,
    };
    let found = unit.find_by_key(&find).await?;
    let first = |found: Vec<Doc>| whole(path::get(found.first()?, &sequence.path)?);
    Ok(found.into_iter().map(first).collect())
}

/// The number that a document keeps, with its stored form. A document keeps its number while it stays within its parent; an imported document
/// keeps the number from the other store.
fn kept(
    sequence: &SequenceDefinition,
    image: &Image,
    parent_key: &[u8],
    trusts_stored: bool,
) -> Option<(i64, RawBson)> {
    let held = image.before_or_origin().filter(|held| {
        let parent = referenced(held, &sequence.within);
        parent.is_some_and(|parent| key::of(parent.as_raw_bson_ref()) == parent_key)
            || mutant("number of a move")
    });
    // A repair refreshes a document more than once. If the number has changed since before the unit, the repair has given it.
    let given = image.now().filter(|now| {
        let before = image.before().and_then(|before| number(sequence, before));
        !trusts_stored && number(sequence, now) != before
    });
    let keeper = given.or(held)?;
    let stored = path::get(keeper, &sequence.path)?;
    Some((number(sequence, keeper)?, stored.into()))
}

/// The number of a document, if it is one of the field's type.
fn number(sequence: &SequenceDefinition, document: &RawDocument) -> Option<i64> {
    let number = match path::get(document, &sequence.path)? {
        RawBsonRef::Int32(number) => number.into(),
        RawBsonRef::Int64(number) => number,
        _ => return None,
    };
    sequence.value(number).map(|_| number)
}

fn counter(sequence: &SequenceDefinition, parent: &RawBson) -> SequenceCounter {
    let field = join(sequence.holder(), &sequence.path);
    SequenceCounter::within(&field, parent.clone())
}

fn used_up(sequence: &SequenceDefinition, parent: &RawBson, last: i64) -> Error {
    let message = format!(
        "the sequence of `{}.{}` within {} is used up: after {last} there is no other number of its type",
        sequence.holder(),
        sequence.path,
        show(parent),
    );
    Error::new(ErrorKind::Limit, message).at(sequence.holder(), Some(&sequence.path), None)
}
