//! Subset arrays: the first children of a parent, shown in it.
//!
//! The children's collection is the source of truth. A subset that may be wrong is read anew by its definition, through the index
//! on the reference and the sort keys, and stored if it is different. Three shortcuts read no children:
//!
//! - changed children are merged into the stored array, if its elements show all fields of the order;
//! - an element whose child changed in shown fields alone is replaced;
//! - a new parent has no children except from this unit.

mod merge;
mod stale;

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, raw::CStr};

use super::{Derivation, DerivedKind, Inputs, counts, deferred_step, of_kind, step_name};
use crate::{
    catalog::{DerivedField, FromDerived, OrderedField, SubsetDefinition, references},
    maintain::{
        outbox::Target,
        places::FieldValues,
        unit::{Doc, Image, Unit, id},
    },
};
use merge::merged;
pub(in crate::maintain) use merge::{is_mergeable, shown_of};
use odm_mql::{Filter, Sort, Test, key, path};
use odm_store::{Error, Find, FindByKey, Result, mutants::mutant};
use stale::{StaleElements, StaleParent, stale};

/// The kind `#[subset]`.
pub(in crate::maintain) struct Subsets;

#[async_trait]
impl Derivation for Subsets {
    async fn refresh(&self, unit: &mut Unit<'_>, level: &[OrderedField<'_>]) -> Result<()> {
        let mut parents: BTreeMap<&str, Vec<Refreshed<'_>>> = BTreeMap::new();
        for ordered in level {
            if let Some(subset) = SubsetDefinition::from_derived(ordered.field) {
                let subsets = parents.entry(&subset.parent).or_default();
                subsets.push(Refreshed::new(unit, subset, ordered));
            }
        }
        for (parent, mut subsets) in parents {
            let deferred = refresh(unit, parent, &mut subsets).await?;
            let names = subsets.iter().map(|refreshed| &*refreshed.subset.path);
            unit.end_step(|| step_name(names, parent));
            unit.queue_refreshes(deferred).await?;
            let deferred = subsets.iter().map(|refreshed| refreshed.subset);
            let deferred = deferred.filter(|subset| subset.deferred);
            unit.end_step(|| {
                deferred_step(step_name(deferred.map(|subset| &*subset.path), parent))
            });
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
        for subset in of_kind::<SubsetDefinition>(fields) {
            let ids = documents.iter().map(|document| id(document).into());
            let found = lookup
                .find_by_key(&first_children(subset, ids.collect()))
                .await?;
            for ((document, found), fields) in documents.iter().zip(found).zip(&mut differences) {
                fields.extend(difference(subset, document, array_of(subset, found)?));
            }
        }
        Ok(differences)
    }

    fn kind(&self) -> DerivedKind {
        DerivedKind::Subset
    }
}

/// A subset of a level.
struct Refreshed<'c> {
    subset: &'c SubsetDefinition,
    is_holder_read: bool,
    /// No stored array is assumed to be right.
    reads_all: bool,
    /// A new parent has no children except from this unit.
    is_certain: bool,
    /// The children that the unit has changed, if they were needed.
    children: Option<HashMap<Vec<u8>, Vec<Doc>>>,
}

impl<'c> Refreshed<'c> {
    fn new(unit: &Unit<'_>, subset: &'c SubsetDefinition, ordered: &OrderedField<'_>) -> Self {
        let reads_all = !unit.policy.trusts_stored || ordered.is_pending;
        Refreshed {
            subset,
            is_holder_read: ordered.is_holder_read,
            reads_all,
            is_certain: !reads_all && unit.catalog.is_certain(&subset.child, &subset.reference),
            children: None,
        }
    }
}

/// Returns the targets that are left to the worker of the outbox.
async fn refresh(
    unit: &mut Unit<'_>,
    parent: &str,
    subsets: &mut [Refreshed<'_>],
) -> Result<Vec<Target>> {
    let (stale, deferred): (Vec<StaleParent>, Vec<Target>) = stale(unit, parent, subsets)?;
    let is_holder_read = subsets.iter().any(|refreshed| refreshed.is_holder_read);
    for chunk in stale.chunks(unit.bounds.chunk) {
        let ids: Vec<RawBson> = chunk.iter().map(|stale| stale.id.clone()).collect();
        let by_children = chunk.iter().filter(|stale| stale.has_changed_children());
        unit.share(parent, by_children.map(|stale| &stale.id));
        unit.load(parent, &ids).await?;
        // A document is changed once, however many of its subsets are stale.
        let mut changes: BTreeMap<usize, FieldValues> = BTreeMap::new();
        for (place, refreshed) in subsets.iter_mut().enumerate() {
            let of_subset = chunk.iter().filter_map(|stale| {
                let elements = stale.elements.get(&place)?;
                Some((&stale.id, elements))
            });
            for (at, array) in arrays(unit, parent, refreshed, of_subset.collect()).await? {
                let document = unit.document(parent, at);
                let field =
                    document.and_then(|document| difference(refreshed.subset, document, array));
                changes.entry(at).or_default().extend(field);
            }
        }
        for (at, fields) in changes {
            unit.set_derived(parent, at, fields).await?;
        }
        if stale.len() > unit.bounds.chunk {
            unit.end_chunk(parent, is_holder_read).await?;
        }
    }
    Ok(deferred)
}

/// The right arrays of a subset in parents that are loaded, with the positions of the parents.
async fn arrays(
    unit: &mut Unit<'_>,
    parent: &str,
    refreshed: &mut Refreshed<'_>,
    stale: Vec<(&RawBson, &StaleElements)>,
) -> Result<Vec<(usize, RawArrayBuf)>> {
    let subset = refreshed.subset;
    let mut arrays: Vec<(usize, RawArrayBuf)> = Vec::new();
    let mut searched: Vec<(usize, RawBson)> = Vec::new();
    for (id, elements) in stale {
        let key = key::of(id.as_raw_bson_ref());
        let images = unit.images(parent);
        // A child may reference a parent that does not exist yet, and is shown when the parent is inserted.
        let Some(at) = images.position(&key) else {
            continue;
        };
        let image = images.at(at);
        let Some(now) = image.now() else { continue };
        match elements {
            _ if (refreshed.is_certain || mutant("subset of a parent that comes back"))
                && image.before().is_none() =>
            {
                let children = match &mut refreshed.children {
                    Some(children) => children,
                    none => none.insert(changed_children(unit, subset, |_| true)?),
                };
                let found = children.remove(&key).unwrap_or_default();
                arrays.push((at, array_of(subset, found)?));
                continue;
            }
            StaleElements::Of(children) if !refreshed.reads_all && is_mergeable(subset) => {
                if let Some(array) = merged(subset, now, &key, &children.all)? {
                    arrays.push((at, array));
                    continue;
                }
            }
            StaleElements::Of(children) => {
                if let Some(elements) = &children.replaced {
                    arrays.extend(replaced(subset, now, elements)?.map(|array| (at, array)));
                    continue;
                }
            }
            StaleElements::Any => {}
        }
        searched.push((at, id.clone()));
    }
    if !searched.is_empty() {
        let ids = searched.iter().map(|(_, id)| id.clone()).collect();
        let found = unit.find_by_key(&first_children(subset, ids)).await?;
        for ((at, _), found) in searched.into_iter().zip(found) {
            arrays.push((at, array_of(subset, found)?));
        }
    }
    Ok(arrays)
}

/// The changed children that `is_meant` selects, by parent, in the order of the subset, and at most as many as it shows.
pub(in crate::maintain) fn changed_children(
    unit: &Unit<'_>,
    subset: &SubsetDefinition,
    is_meant: impl Fn(&Image) -> bool,
) -> Result<HashMap<Vec<u8>, Vec<Doc>>> {
    let mut children: HashMap<Vec<u8>, Vec<Doc>> = HashMap::new();
    for (_, image) in unit.images(&subset.child).changed() {
        let Some(child) = image.now().filter(|_| is_meant(image)) else {
            continue;
        };
        if !counts(subset, child)? {
            continue;
        }
        let mut parents = Vec::new();
        references(child, &subset.reference, |parent| {
            parents.push(key::of(parent))
        });
        parents.sort_unstable();
        parents.dedup();
        for parent in parents {
            children.entry(parent).or_default().push(child.clone());
        }
    }
    let Find { sort, limit, .. } = children_in_order(subset);
    let limit = limit.and_then(|limit| usize::try_from(limit).ok());
    for children in children.values_mut() {
        children.sort_by_cached_key(|child| sort.encode_key(child));
        children.truncate(limit.unwrap_or(usize::MAX));
    }
    Ok(children)
}

/// The array with new elements for children that are shown already. `None` if no such child is shown.
fn replaced(
    subset: &SubsetDefinition,
    parent: &RawDocument,
    elements: &HashMap<Vec<u8>, RawDocumentBuf>,
) -> Result<Option<RawArrayBuf>> {
    let Some(RawBsonRef::Array(array)) = path::get(parent, &subset.path) else {
        return Ok(None);
    };
    let mut replaced = RawArrayBuf::new();
    let mut found = false;
    for element in array {
        let element = element.map_err(Error::malformed)?;
        let new = match element {
            RawBsonRef::Document(shown) => elements.get(&key::of(id(shown))),
            _ => None,
        };
        match new {
            Some(new) if !mutant("shown field") => {
                found = true;
                replaced.push(RawBsonRef::Document(new));
            }
            _ => replaced.push(element),
        }
    }
    Ok(found.then_some(replaced))
}

/// Returns the fields of a child that a subset shows: the fields of the projection, in its order.
pub(crate) fn shown(subset: &SubsetDefinition, child: &RawDocument) -> Result<RawDocumentBuf> {
    let Some(names) = &subset.shown else {
        return Ok(child.to_owned());
    };
    let mut shown = RawDocumentBuf::new();
    for name in names {
        if let Some(value) = path::get(child, name) {
            let name = <&CStr>::try_from(name.as_str()).map_err(Error::malformed)?;
            shown.append(name, value);
        }
    }
    Ok(shown)
}

/// Whether the elements of a subset have this field of the child.
pub(in crate::maintain) fn shows(subset: &SubsetDefinition, field: &str) -> bool {
    let names = subset.shown.as_ref();
    names.is_none_or(|names| names.iter().any(|name| name == field))
}

/// Returns the query for all children of a parent that a subset can show, in the order in which it takes them: reversed if it
/// shows the last children.
pub(crate) fn children_of(subset: &SubsetDefinition, parent: RawBson) -> Find {
    let of_parent = Filter::Path(subset.reference.clone().into(), Test::Eq(parent));
    let children = children_in_order(subset);
    Find {
        filter: of_parent.and(children.filter),
        limit: None,
        ..children
    }
}

/// The order in which a subset takes children: reversed if it shows the last children.
pub(in crate::maintain) fn order_of(subset: &SubsetDefinition) -> Sort {
    if subset.limit < 0 {
        subset.sort.reversed()
    } else {
        subset.sort.clone()
    }
}

/// The query of the children of some parent in the order in which a subset takes them, as many as it
/// shows.
fn children_in_order(subset: &SubsetDefinition) -> Find {
    Find {
        collection: subset.child.clone(),
        filter: (*subset.filter).clone(),
        sort: order_of(subset),
        limit: Some(subset.limit.unsigned_abs()),
        ..Find::default()
    }
}

/// The definition of a subset, for several parents.
fn first_children(subset: &SubsetDefinition, parents: Vec<RawBson>) -> FindByKey {
    FindByKey {
        find: children_in_order(subset),
        path: subset.reference.clone(),
        keys: parents,
    }
}

/// The array that shows these children.
fn array_of(subset: &SubsetDefinition, mut children: Vec<Doc>) -> Result<RawArrayBuf> {
    if subset.limit < 0 && !mutant("order of the last children") {
        children.reverse();
    }
    let mut array = RawArrayBuf::new();
    for child in children {
        array.push(shown(subset, &child)?);
    }
    Ok(array)
}

/// The field with the right array, if the document has another.
fn difference(
    subset: &SubsetDefinition,
    document: &RawDocument,
    array: RawArrayBuf,
) -> Option<(String, Option<RawBson>)> {
    let array = RawBson::Array(array);
    let stored = path::get(document, &subset.path);
    (stored != Some(array.as_raw_bson_ref())).then(|| (subset.path.clone(), Some(array)))
}
