//! Fields that follow from the children of a parent, as each child comes and goes.
//!
//! The difference that the unit makes, under the present definition, gives the new value as a rule, so that its work does not grow with the
//! children. They are searched only if it does not, or if no right value is stored: if it is missing or pending, and in a repair.

use std::{
    collections::{BTreeMap, HashMap},
    marker::PhantomData,
};

use async_trait::async_trait;
use bson::{RawBson, RawBsonRef, RawDocument};
use odm_mql::{Filter, key, path};
use odm_store::{Find, FindByKey, Result, mutants::mutant};

use super::{Derivation, DerivedKind, Inputs, counts, deferred_step, of_kind, step_name};
use crate::{
    catalog::{DerivedField, EmptyValue, FromDerived, OfChildren, OrderedField, references},
    maintain::{
        outbox::Target,
        places::FieldValues,
        unit::{Doc, Image, Unit, id},
    },
};

/// A kind of field that follows from the children of a parent.
#[async_trait]
pub(in crate::maintain) trait Tally: OfChildren + FromDerived + Sync {
    const KIND: DerivedKind;

    /// The contribution of one child to the value.
    type Share: PartialEq;

    /// The difference that children make by coming and going; the default makes none.
    type Change: Default + Send + Sync;

    /// The contribution of a child that counts.
    fn share(&self, child: &RawDocument) -> Result<Self::Share>;

    fn add(&self, change: &mut Self::Change, share: &Self::Share);

    fn subtract(&self, change: &mut Self::Change, share: &Self::Share);

    fn is_none(change: &Self::Change) -> bool;

    /// The value of a parent after a change, if it follows from the value before.
    fn after(
        &self,
        parent: &RawBson,
        before: RawBsonRef<'_>,
        change: &Self::Change,
    ) -> Result<Option<RawBson>>;

    /// The value to store in the place of another, unless that is right.
    fn correction(stored: Option<RawBsonRef<'_>>, right: RawBson) -> Option<RawBson> {
        (stored != Some(right.as_raw_bson_ref())).then_some(right)
    }

    /// The values of these parents, by a search of their children.
    async fn search(&self, inputs: &mut dyn Inputs, parents: Vec<RawBson>) -> Result<Vec<RawBson>>;

    /// The query for the children of these parents that count.
    fn by_parent(&self, parents: Vec<RawBson>) -> FindByKey {
        FindByKey {
            find: Find {
                collection: self.source().to_owned(),
                filter: self
                    .filter()
                    .map_or_else(Filter::default, |filter| (**filter).clone()),
                ..Find::default()
            },
            path: self.children().reference.clone(),
            keys: parents,
        }
    }
}

/// A kind of such fields.
pub(in crate::maintain) struct Tallies<T>(PhantomData<fn() -> T>);

impl<T> Tallies<T> {
    pub(in crate::maintain) const ALL: Self = Tallies(PhantomData);
}

#[async_trait]
impl<T: Tally> Derivation for Tallies<T> {
    async fn refresh(&self, unit: &mut Unit<'_>, level: &[OrderedField<'_>]) -> Result<()> {
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

    async fn differences(
        &self,
        lookup: &mut dyn Inputs,
        fields: &[&DerivedField],
        documents: &[Doc],
    ) -> Result<Vec<FieldValues>> {
        let mut differences = vec![FieldValues::new(); documents.len()];
        for tally in of_kind::<T>(fields) {
            let ids = documents.iter().map(|document| id(document).into());
            let values = tally.search(lookup, ids.collect()).await?;
            for ((document, value), fields) in documents.iter().zip(values).zip(&mut differences) {
                fields.extend(difference(tally, document, value));
            }
        }
        Ok(differences)
    }

    fn kind(&self) -> DerivedKind {
        T::KIND
    }
}

/// A field of a parent that may be wrong.
struct StaleTally<C> {
    id: RawBson,
    /// The difference that the unit makes, if it is known.
    change: Option<C>,
    /// The unit has written the parent, and may have stored another value.
    is_written: bool,
}

impl<C: Default> StaleTally<C> {
    fn new(id: RawBson) -> Self {
        StaleTally {
            id,
            change: Some(C::default()),
            is_written: false,
        }
    }
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
            change: None,
            ..StaleTally::new(id)
        };
        stale.insert(key, due);
    }
    stale.retain(|_, StaleTally { id, .. }| !unit.leaves_out(parent, id));
    let stale: Vec<StaleTally<T::Change>> = stale.into_values().collect();
    let searches_all = !unit.policy.trusts_stored || ordered.is_pending;
    let is_certain = unit
        .catalog
        .is_certain(tally.source(), &tally.children().reference);
    for chunk in stale.chunks(unit.bounds.chunk) {
        let ids: Vec<RawBson> = chunk.iter().map(|stale| stale.id.clone()).collect();
        let by_children = chunk.iter();
        let by_children =
            by_children.filter(|stale| !stale.change.as_ref().is_some_and(T::is_none));
        unit.share(parent, by_children.map(|stale| &stale.id));
        unit.load(parent, &ids).await?;
        let mut values: Vec<(usize, RawBson)> = Vec::new();
        let mut searched: Vec<(usize, RawBson)> = Vec::new();
        let images = unit.images(parent);
        for StaleTally { id, change, .. } in chunk {
            let at = images.position(&key::of(id.as_raw_bson_ref()));
            // A child may reference a parent that does not exist yet, and counts when the parent is inserted.
            let Some((at, image)) = at.map(|at| (at, images.at(at))) else {
                continue;
            };
            if image.now().is_none() {
                continue;
            }
            let value = match (base(tally, image, is_certain), change) {
                (Some(base), Some(change)) if !searches_all => {
                    tally.after(id, base.as_raw_bson_ref(), change)?
                }
                _ => None,
            };
            match value {
                Some(value) => values.push((at, value)),
                None => searched.push((at, id.clone())),
            }
        }
        if !searched.is_empty() {
            let ids = searched.iter().map(|(_, id)| id.clone()).collect();
            let found = tally.search(unit, ids).await?;
            values.extend(searched.iter().map(|(at, _)| *at).zip(found));
        }
        for (at, value) in values {
            let document = unit.document(parent, at);
            let fields = document.and_then(|document| difference(tally, document, value));
            let fields = FieldValues::from_iter(fields);
            unit.set_derived(parent, at, fields).await?;
        }
        if stale.len() > unit.bounds.chunk {
            unit.end_chunk(parent, ordered.is_holder_read).await?;
        }
    }
    Ok(deferred)
}

/// The difference that the unit makes to each parent, by the key of its `_id`; `None` where it is not known.
pub(in crate::maintain) fn changes<T: Tally>(
    unit: &Unit<'_>,
    tally: &T,
) -> Result<impl Iterator<Item = (Vec<u8>, Option<T::Change>)>> {
    let stale = stale(unit, tally)?.into_iter();
    Ok(stale.map(|(key, stale)| (key, stale.change)))
}

/// The parents whose fields may be wrong, by the keys of their `_id`s.
fn stale<T: Tally>(unit: &Unit<'_>, tally: &T) -> Result<BTreeMap<Vec<u8>, StaleTally<T::Change>>> {
    let mut stale: BTreeMap<Vec<u8>, StaleTally<T::Change>> = BTreeMap::new();
    let share = |child: &Doc| match counts(tally, child)? {
        true => tally.share(child).map(Some),
        false => Ok(None),
    };
    for (_, image) in unit.images(tally.source()).changed() {
        let before = image
            .before()
            .map(|child| (parents(tally, child), share(child)));
        let now = match image.now() {
            Some(child) => share(child)?.map(|share| (parents(tally, child), share)),
            None => None,
        };
        if let (Some((before, Ok(Some(gone)))), Some((now, come))) = (&before, &now)
            && (before, gone) == (now, come)
        {
            continue;
        }
        let mut of = |parents: HashMap<_, _>, make: &dyn Fn(&mut Option<T::Change>)| {
            for (key, id) in parents {
                let stale = stale.entry(key).or_insert_with(|| StaleTally::new(id));
                make(&mut stale.change);
            }
        };
        match before {
            Some((parents, Ok(Some(share)))) if !mutant("decrement of a count") => {
                of(parents, &|change| {
                    change
                        .iter_mut()
                        .for_each(|change| tally.subtract(change, &share))
                });
            }
            // The child was stored by a write that did not know the definition, so it is unknown what it contributed.
            Some((parents, Err(_))) => of(parents, &|change| *change = None),
            _ => {}
        }
        if let Some((parents, share)) = now
            && !mutant("increment of a count")
        {
            of(parents, &|change| {
                change
                    .iter_mut()
                    .for_each(|change| tally.add(change, &share))
            });
        }
    }
    stale.retain(|_, stale| !stale.change.as_ref().is_some_and(T::is_none));
    // A document that was written as a whole has the value that the caller sent.
    let path = tally.path();
    for (_, image) in unit.images(tally.holder()).changed() {
        let Some(now) = image.now() else { continue };
        let value = |document: &Doc| path::get(document, &path).map(RawBson::from);
        if image.before().map(value) != Some(value(now)) && !mutant("count that was sent") {
            let id = RawBson::from(id(now));
            let key = key::of(id.as_raw_bson_ref());
            let stale = stale.entry(key).or_insert_with(|| StaleTally::new(id));
            stale.is_written = true;
        }
    }
    Ok(stale)
}

/// The right value before the unit, if it is known.
fn base<T: Tally>(tally: &T, image: &Image, is_certain: bool) -> Option<RawBson> {
    let empty = match OfChildren::empty(tally) {
        EmptyValue::Value(value) => value,
        EmptyValue::Absent | EmptyValue::None => RawBson::Null,
    };
    match image.before() {
        Some(before) => {
            let stored = path::get(before, &tally.path()).map(RawBson::from);
            stored.or((empty == RawBson::Null).then_some(empty))
        }
        // A new document has no children except from this unit.
        None => (is_certain || mutant("count of a parent that comes back")).then_some(empty),
    }
}

/// The distinct parents of a child.
fn parents(tally: &impl Tally, child: &RawDocument) -> HashMap<Vec<u8>, RawBson> {
    let mut parents = HashMap::new();
    references(child, &tally.children().reference, |parent| {
        parents.insert(key::of(parent), parent.into());
    });
    parents
}

/// The field with the right value, if the document has another.
fn difference<T: Tally>(
    tally: &T,
    document: &RawDocument,
    right: RawBson,
) -> Option<(String, Option<RawBson>)> {
    let path = tally.path();
    let correction = T::correction(path::get(document, &path), right);
    correction.map(|value| (path.into_owned(), Some(value)))
}
