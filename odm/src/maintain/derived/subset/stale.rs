//! The subsets that the changes of a unit may make stale.

use std::collections::{BTreeMap, HashMap};

use bson::{RawBson, RawDocument, RawDocumentBuf};
use odm_mql::{key, path};
use odm_store::{Result, mutants::mutant};

use super::{super::counts, Refreshed, shown, shows};
use crate::{
    catalog::{SubsetDefinition, references},
    maintain::{
        outbox::Target,
        unit::{Doc, Image, Unit, id},
    },
};

/// A parent with subsets that may be wrong.
pub(super) struct StaleParent {
    pub(super) id: RawBson,
    /// The subsets that may be wrong, by their positions among all subsets of the level.
    pub(super) elements: BTreeMap<usize, StaleElements>,
}

impl StaleParent {
    /// Whether a child that the unit has changed makes the parent stale.
    pub(super) fn has_changed_children(&self) -> bool {
        let mut elements = self.elements.values();
        elements.any(|elements| matches!(elements, StaleElements::Of(_)))
    }
}

/// Which elements of a subset may be wrong.
pub(super) enum StaleElements {
    /// The elements of changed children.
    Of(ChangedChildren),
    /// All elements.
    Any,
}

/// The children of a parent that the unit has changed.
pub(super) struct ChangedChildren {
    pub(super) all: Vec<ChangedChild>,
    /// The new elements by the keys of the children's `_id`s, if the members of the subset are the same, in
    /// the same order.
    pub(super) replaced: Option<HashMap<Vec<u8>, RawDocumentBuf>>,
}

/// A child that the unit has changed.
pub(super) struct ChangedChild {
    /// The key of its `_id`.
    pub(super) key: Vec<u8>,
    /// The child before the unit; `None` if it is new.
    pub(super) before: Option<Doc>,
    /// The child now; `None` if it is gone.
    pub(super) now: Option<Doc>,
}

/// The parents in a collection whose subsets may be wrong, and the targets that are left to the worker of the outbox.
pub(super) fn stale(
    unit: &mut Unit<'_>,
    parent: &str,
    subsets: &[Refreshed<'_>],
) -> Result<(Vec<StaleParent>, Vec<Target>)> {
    let mut stale = Parents::default();
    for (place, refreshed) in subsets.iter().enumerate() {
        add_by_children(&mut stale, place, unit, refreshed)?;
        let subset = refreshed.subset;
        for (_, image) in unit.images(&subset.parent).changed() {
            let Some(now) = image.now() else { continue };
            // A document that was written as a whole has the array that the caller sent.
            let array = |holder: &Doc| path::get(holder, &subset.path).map(RawBson::from);
            if image
                .before()
                .is_none_or(|before| array(before) != array(now))
                && !mutant("subset that was sent")
            {
                let parent = stale.parent(id(now).into());
                parent.elements.insert(place, StaleElements::Any);
            }
        }
        for due in unit.outbox.due_fields(&subset.parent, &subset.path) {
            stale.parent(due).elements.insert(place, StaleElements::Any);
        }
    }
    let mut stale: Vec<StaleParent> = stale.0.into_values().collect();
    let mut deferred = Vec::new();
    for StaleParent { id, elements } in &mut stale {
        elements.retain(|&place, elements| {
            let subset = subsets[place].subset;
            let is_left = unit.defers(subset) && matches!(elements, StaleElements::Of(_));
            if is_left {
                deferred.push(Target::field(&subset.parent, &subset.path, id.clone()));
            }
            !is_left
        });
    }
    stale.retain(|StaleParent { id, elements }| {
        !elements.is_empty() && !unit.leaves_out(parent, id)
    });
    Ok((stale, deferred))
}

fn add_by_children(
    stale: &mut Parents,
    place: usize,
    unit: &Unit<'_>,
    refreshed: &Refreshed<'_>,
) -> Result<()> {
    let subset = refreshed.subset;
    let shows_id = shows(subset, "_id");
    for (_, image) in unit.images(&subset.child).changed() {
        let before = match image.before() {
            Some(before) => counts(subset, before).map(|counts| counts.then_some(before)),
            None => Ok(None),
        };
        let now = match image.now() {
            Some(now) if counts(subset, now)? => Some(now),
            _ => None,
        };
        if let (Ok(Some(before)), Some(now)) = (&before, now)
            && member(subset, before) == member(subset, now)
        {
            let element = shown(subset, now)?;
            if shown(subset, before)? == element {
                continue;
            }
            if shows_id && !refreshed.reads_all {
                references(now, &subset.reference, |parent| {
                    let element = element.clone();
                    stale.add(place, parent.into(), image, Some(element));
                });
                continue;
            }
        }
        // A child that was stored by a write that did not know the filter may have counted.
        let before = before.unwrap_or(image.before());
        let before = before.filter(|_| !mutant("subset of the old parent"));
        for child in before.into_iter().chain(now) {
            references(child, &subset.reference, |parent| {
                stale.add(place, parent.into(), image, None);
            });
        }
    }
    Ok(())
}

/// The values that decide the members of a subset and their order: the parents and the sort keys.
fn member(subset: &SubsetDefinition, child: &RawDocument) -> (Vec<Vec<u8>>, Vec<u8>) {
    let mut parents = Vec::new();
    references(child, &subset.reference, |parent| {
        parents.push(key::of(parent))
    });
    (parents, subset.sort.encode_key(child))
}

/// The stale parents by the keys of their `_id`s.
#[derive(Default)]
struct Parents(BTreeMap<Vec<u8>, StaleParent>);

impl Parents {
    fn parent(&mut self, id: RawBson) -> &mut StaleParent {
        let key = key::of(id.as_raw_bson_ref());
        self.0.entry(key).or_insert_with(|| StaleParent {
            id,
            elements: BTreeMap::new(),
        })
    }

    /// Adds a changed child of a parent, with its new element if it keeps its place.
    fn add(
        &mut self,
        place: usize,
        parent: RawBson,
        child: &Image,
        replaced: Option<RawDocumentBuf>,
    ) {
        let Some(document) = child.now().or(child.before()) else {
            return;
        };
        let key = key::of(id(document));
        let elements = self.parent(parent).elements.entry(place);
        let elements = elements.or_insert_with(|| {
            StaleElements::Of(ChangedChildren {
                all: Vec::new(),
                replaced: Some(HashMap::new()),
            })
        });
        let StaleElements::Of(children) = elements else {
            return;
        };
        match (replaced, &mut children.replaced) {
            (Some(element), Some(replaced)) => drop(replaced.insert(key.clone(), element)),
            _ => children.replaced = None,
        }
        // A child that references a parent before and now, or twice, comes twice in a row.
        if children.all.last().is_none_or(|last| last.key != key) {
            children.all.push(ChangedChild {
                key,
                before: child.before().cloned(),
                now: child.now().cloned(),
            });
        }
    }
}
