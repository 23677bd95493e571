//! Lists of ancestors: the documents above a document in a tree.
//!
//! The list of a document is that of the document above, and the `_id` of that document. A unit that moves documents follows the references
//! up to the roots, since a list that it has not refreshed yet may hide a ring. Then it goes down: the documents below a changed list are
//! found by their reference, depth by depth. A unit that moves none trusts the list of the nearest document that it has not written.
//!
//! Deferred lists always follow from the stored list of the document above, and each change of one leaves a record for the lists right below,
//! also in a repair. So all are right when no record is left.

use std::collections::{BTreeMap, HashMap, HashSet};

use async_trait::async_trait;
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument};
use odm_mql::{key, path};
use odm_store::{Error, ErrorKind, Result, mutants::mutant, show};

use super::{Derivation, DerivedKind, Inputs, deferred_step, of_kind, referenced, step_name};
use crate::{
    catalog::{AncestorsDefinition, DerivedField, FromDerived, OrderedField, join},
    maintain::{
        outbox::Target,
        places::FieldValues,
        unit::{Doc, DocumentPages, Image, Unit, id},
    },
};

/// The greatest number of ancestors.
const MOST: usize = 200;

/// The kind `#[ancestors]`.
pub(super) struct AncestorLists;

#[async_trait]
impl Derivation for AncestorLists {
    async fn refresh(&self, unit: &mut Unit<'_>, level: &[OrderedField<'_>]) -> Result<()> {
        for ordered in level {
            if let Some(field) = AncestorsDefinition::from_derived(ordered.field) {
                let deferred = refresh(unit, field, ordered).await?;
                let name = || step_name([&*field.path].into_iter(), &field.holder);
                unit.end_step(name);
                unit.queue_refreshes(deferred).await?;
                unit.end_step(|| deferred_step(name()));
            }
        }
        Ok(())
    }

    /// A deferred list is compared with the stored list of the document above, which may wait for a record itself.
    async fn differences(
        &self,
        lookup: &mut dyn Inputs,
        fields: &[&DerivedField],
        documents: &[Doc],
    ) -> Result<Vec<FieldValues>> {
        let mut differences = vec![FieldValues::new(); documents.len()];
        for field in of_kind::<AncestorsDefinition>(fields) {
            let way = WayUp::of(lookup, field, documents, &|_| field.deferred).await?;
            if field.deferred && field.is_of_tree() {
                let references = WayUp::of(lookup, field, documents, &|_| false).await?;
                references.check(documents)?;
            }
            for (document, fields) in documents.iter().zip(&mut differences) {
                let list = way.list(document)?;
                if !is_right(field, document, &list) {
                    fields.push((field.path.clone(), Some(list.into())));
                }
            }
        }
        Ok(differences)
    }

    fn kind(&self) -> DerivedKind {
        DerivedKind::Ancestors
    }
}

/// Returns the targets that are left to the worker of the outbox.
async fn refresh(
    unit: &mut Unit<'_>,
    field: &AncestorsDefinition,
    ordered: &OrderedField<'_>,
) -> Result<Vec<Target>> {
    let holder = &*field.holder;
    let is_certain = unit.catalog.is_certain(holder, &field.reference);
    let (mut stale, mut moved) = (BTreeMap::new(), Vec::new());
    for (_, image) in unit.images(holder).changed() {
        let Some(now) = image.now() else { continue };
        let own = RawBson::from(id(now));
        if field.is_of_tree() && is_moved(field, image, is_certain) {
            moved.push(own.clone());
        }
        if is_touched(field, image) {
            stale.insert(key::of(own.as_raw_bson_ref()), own);
        }
    }
    for (_, holders) in unit.outbox.due_along(holder, &field.reference) {
        let due = holders.into_iter();
        stale.extend(due.map(|id| (key::of(id.as_raw_bson_ref()), id)));
    }
    if mutant("ring") {
        moved.clear();
    }
    // Two units that move documents below each other conflict in one of these.
    unit.exclude(holder, &moved);
    let reads_all = !unit.policy.trusts_stored || ordered.is_pending;
    let follows_all = !field.deferred && (reads_all || !moved.is_empty());
    // Until its end, a backfill visits the documents below by itself, and writes follow the references.
    let visits_below = ordered.is_pending && !unit.policy.trusts_stored && !field.deferred;
    let below_changed = |image: &Image| below_changed(field, image, is_certain, visits_below);
    let mut below = BTreeMap::new();
    let ids: Vec<RawBson> = stale.values().cloned().collect();
    for chunk in ids.chunks(unit.bounds.chunk) {
        let positions = unit.load_existing(holder, chunk).await?;
        let documents = positions.iter().filter_map(|&at| unit.document(holder, at));
        let documents: Vec<Doc> = documents.cloned().collect();
        let is_known =
            |document: &RawDocument| !follows_all && !stale.contains_key(&key::of(id(document)));
        let way = WayUp::of(unit, field, &documents, &is_known).await?;
        if !moved.is_empty() {
            if field.deferred {
                let references = WayUp::of(unit, field, &documents, &|_| false).await?;
                references.check(&documents)?;
                references.share(unit);
            } else {
                way.share(unit);
            }
        }
        for (&at, document) in positions.iter().zip(&documents) {
            let list = way.list(document)?;
            if !is_right(field, document, &list) {
                set(unit, field, at, list).await?;
            }
            if field.is_of_tree() {
                below.extend(below_changed(unit.images(holder).at(at)));
            }
        }
        if ids.len() > unit.bounds.chunk {
            unit.end_chunk(holder, ordered.is_holder_read).await?;
        }
    }
    let changed = unit.images(&field.tree).changed();
    below.extend(changed.filter_map(|(_, image)| below_changed(image)));
    let below = below.into_values();
    if field.deferred {
        let targets = below.map(|below| Target::along(holder, &field.reference, below.above));
        return Ok(targets.collect());
    }
    if !mutant("subtree of a move") {
        descend(unit, field, ordered, below.collect()).await?;
    }
    Ok(Vec::new())
}

/// Whether the unit gives a document of the tree another document above. A new one can only be in a ring if others refer to it already.
fn is_moved(field: &AncestorsDefinition, image: &Image, is_certain: bool) -> bool {
    let is_moved = match (image.before(), image.now()) {
        (Some(before), Some(now)) => !path::is_same(before, now, &field.reference),
        (None, Some(_)) => !is_certain,
        (_, None) => false,
    };
    is_moved
        && image
            .now()
            .is_some_and(|now| referenced(now, &field.reference).is_some())
}

/// Whether lists may follow from the changes of a unit.
pub(in crate::maintain) fn is_followed(field: &AncestorsDefinition, unit: &Unit<'_>) -> bool {
    let mut changed = unit.images(&field.tree).changed();
    changed.any(|(_, image)| match (image.before(), image.now()) {
        (Some(before), Some(now)) => {
            let mut paths = [&field.reference, &field.list].into_iter();
            paths.any(|path| !path::is_same(before, now, path))
        }
        _ => true,
    })
}

/// Whether the unit has changed the reference or the list of a document.
fn is_touched(field: &AncestorsDefinition, image: &Image) -> bool {
    let (Some(before), Some(now)) = (image.before(), image.now()) else {
        return true;
    };
    let mut paths = [&field.reference, &field.path].into_iter();
    paths.any(|path| !path::is_same(before, now, path)) && !mutant("moved document of a tree")
}

/// The list of the documents right below another.
struct Below {
    above: RawBson,
    list: RawArrayBuf,
}

impl Below {
    /// The list below the document `above` with a list.
    fn new(above: RawBson, list: Option<RawBsonRef<'_>>) -> Self {
        let mut below = RawArrayBuf::new();
        let list = list.and_then(RawBsonRef::as_array);
        list.into_iter()
            .flat_map(path::elements)
            .for_each(|id| below.push(id));
        below.push(above.as_raw_bson_ref());
        Below { above, list: below }
    }
}

/// The list below a document of the tree, with the key of its `_id`, if the unit has changed the list.
fn below_changed(
    field: &AncestorsDefinition,
    image: &Image,
    is_certain: bool,
    visits_below: bool,
) -> Option<(Vec<u8>, Below)> {
    let (before, now) = (image.before(), image.now());
    let is_changed = match (before, now) {
        (Some(before), Some(now)) => {
            let is_left =
                visits_below && field.is_of_tree() && path::is_same(before, now, &field.reference);
            !is_left && !path::is_same(before, now, &field.list)
        }
        (None, None) => false,
        _ => !is_certain,
    };
    let document = now.or(before).filter(|_| is_changed)?;
    let list = now.and_then(|now| path::get(now, &field.list));
    let below = Below::new(id(document).into(), list);
    Some((key::of(id(document)), below))
}

/// Refreshes the lists below some documents, at all depths of the tree.
async fn descend(
    unit: &mut Unit<'_>,
    field: &AncestorsDefinition,
    ordered: &OrderedField<'_>,
    mut depth: Vec<Below>,
) -> Result<()> {
    let mut held = 0;
    while !depth.is_empty() {
        let mut next = Vec::new();
        for chunk in depth.chunks(unit.bounds.chunk) {
            let lists = chunk
                .iter()
                .map(|below| (key::of(below.above.as_raw_bson_ref()), &below.list));
            let lists: HashMap<Vec<u8>, &RawArrayBuf> = lists.collect();
            let above = chunk.iter().map(|below| below.above.clone()).collect();
            let find = unit.find_referrers((&field.tree, above), &field.holder, &field.reference);
            let mut pages = DocumentPages::new(find);
            loop {
                let page = unit.next_page(&mut pages).await?;
                if page.is_empty() {
                    break;
                }
                for &at in &page {
                    let Some(document) = unit.document(&field.holder, at) else {
                        continue;
                    };
                    let above = referenced(document, &field.reference);
                    let above = above.map(|above| key::of(above.as_raw_bson_ref()));
                    let Some(list) = above.and_then(|above| lists.get(&above)) else {
                        continue;
                    };
                    let is_right = is_right(field, document, list);
                    // Below a right list, all are right, but while the field is pending.
                    if is_right && !(ordered.is_pending && field.is_of_tree()) {
                        continue;
                    }
                    if path::elements(list).count() > MOST {
                        return Err(too_deep(field, document));
                    }
                    if field.is_of_tree() {
                        let list = RawBsonRef::Array(list);
                        next.push(Below::new(id(document).into(), Some(list)));
                    }
                    if !is_right {
                        set(unit, field, at, (*list).clone()).await?;
                    }
                }
                held += page.len();
                if held > unit.bounds.chunk {
                    unit.end_chunk(&field.holder, ordered.is_holder_read)
                        .await?;
                    held = 0;
                }
            }
        }
        depth = next;
    }
    Ok(())
}

async fn set(
    unit: &mut Unit<'_>,
    field: &AncestorsDefinition,
    at: usize,
    list: RawArrayBuf,
) -> Result<()> {
    let fields = vec![(field.path.clone(), Some(list.into()))];
    unit.set_derived(&field.holder, at, fields).await
}

/// Whether a document has this list. The same number in another type is no change.
fn is_right(field: &AncestorsDefinition, document: &RawDocument, list: &RawArrayBuf) -> bool {
    let stored = path::get(document, &field.path);
    let list = RawBsonRef::Array(list);
    stored.is_some_and(|stored| stored == list || key::of(stored) == key::of(list))
}

/// The documents on the ways from some documents up to the roots.
struct WayUp<'d> {
    field: &'d AncestorsDefinition,
    /// By the keys of their `_id`s.
    met: HashMap<Vec<u8>, Met>,
}

/// A document of the tree, which may be missing.
struct Met {
    id: RawBson,
    above: Option<RawBson>,
    /// Its list, if it is known. The way ends there.
    list: Option<RawArrayBuf>,
}

impl<'d> WayUp<'d> {
    /// Reads the documents above these, up to the ones whose list is known.
    async fn of(
        lookup: &mut dyn Inputs,
        field: &'d AncestorsDefinition,
        documents: &[Doc],
        is_known: &(dyn Fn(&RawDocument) -> bool + Sync),
    ) -> Result<Self> {
        let by_key = |id: RawBson| (key::of(id.as_raw_bson_ref()), id);
        let mut met = HashMap::new();
        let above = documents
            .iter()
            .filter_map(|document| referenced(document, &field.reference));
        let mut next: BTreeMap<Vec<u8>, RawBson> = above.map(by_key).collect();
        // There is no list of a longer way.
        for _ in 0..=MOST {
            if next.is_empty() {
                break;
            }
            let ids = next.values().cloned().collect();
            let found = lookup.get(&field.tree, ids).await?;
            let mut after = BTreeMap::new();
            for (key, named) in next {
                let document = found.get(&key).map(|document| &***document);
                let list = document
                    .filter(|document| !field.is_of_tree() || is_known(document))
                    .and_then(|document| path::get(document, &field.list)?.as_array());
                let above = document
                    .filter(|_| field.is_of_tree() && list.is_none())
                    .and_then(|document| referenced(document, &field.reference));
                after.extend(above.clone().map(by_key));
                let id = document.map_or(named, |document| id(document).into());
                let list = list.map(|list| list.to_owned());
                met.insert(key, Met { id, above, list });
            }
            after.retain(|key, _| !met.contains_key(key));
            next = after;
        }
        Ok(WayUp { field, met })
    }

    /// Shares the documents with other units, which must not move them meanwhile.
    fn share(&self, unit: &mut Unit<'_>) {
        unit.share(&self.field.tree, self.met.values().map(|met| &met.id));
    }

    /// Checks that each document has a list.
    fn check(&self, documents: &[Doc]) -> Result<()> {
        let mut documents = documents.iter();
        documents.try_for_each(|document| self.list(document).map(drop))
    }

    /// The list of a document.
    ///
    /// # Errors
    ///
    /// `Uncomputable` if its way ends in a ring, or is too long.
    fn list(&self, document: &RawDocument) -> Result<RawArrayBuf> {
        let mut way: Vec<&Met> = Vec::new();
        let mut passed = HashSet::new();
        let mut above = referenced(document, &self.field.reference);
        let mut known = None;
        while let (Some(next), None) = (&above, known) {
            let key = key::of(next.as_raw_bson_ref());
            let Some(met) = self.met.get(&key) else {
                return Err(too_deep(self.field, document));
            };
            if !passed.insert(key) {
                return Err(ring(self.field, document, &way, met));
            }
            way.push(met);
            known = met.list.as_ref();
            above = met.above.clone();
        }
        let mut list = known.cloned().unwrap_or_default();
        way.iter()
            .rev()
            .for_each(|met| list.push(met.id.as_raw_bson_ref()));
        match path::elements(&list).count() {
            0..=MOST => Ok(list),
            _ => Err(too_deep(self.field, document)),
        }
    }
}

fn ring(field: &AncestorsDefinition, document: &RawDocument, way: &[&Met], again: &Met) -> Error {
    let ring = way.iter().skip_while(|met| !std::ptr::eq(**met, again));
    let ids: Vec<String> = ring.chain([&again]).map(|met| show(&met.id)).collect();
    let why = format!(
        "the references `{}` lead in a ring: {}",
        join(&field.tree, &field.reference),
        ids.join(" -> ")
    );
    uncomputable(field, document, &why)
}

fn too_deep(field: &AncestorsDefinition, document: &RawDocument) -> Error {
    let why = format!("there are more than {MOST} documents above it");
    uncomputable(field, document, &why)
}

fn uncomputable(field: &AncestorsDefinition, document: &RawDocument, why: &str) -> Error {
    let id = RawBson::from(id(document));
    let message = format!(
        "uncomputable value: `{}` of the document with `_id` = {}: {why}",
        join(&field.holder, &field.path),
        show(&id),
    );
    Error::new(ErrorKind::Uncomputable, message).at(&field.holder, Some(&field.path), Some(id))
}
