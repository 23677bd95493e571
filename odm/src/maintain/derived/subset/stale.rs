//! The subsets that the changes of a unit may make wrong.

use std::collections::{BTreeMap, HashMap};

use bson::{RawBson, RawDocument, RawDocumentBuf};

use super::{super::counts, Refreshed, shown};
use crate::{
    catalog::{SubsetDefinition, references},
    error::Result,
    maintain::unit::{Doc, Unit, id},
    mql::{key, path},
};

/// A parent of which a subset may be wrong.
pub(super) struct StaleParent {
    pub(super) id: RawBson,
    /// Those of its subsets that may be wrong, by their positions among all of the level.
    pub(super) elements: BTreeMap<usize, StaleElements>,
}

/// How the elements of a subset change.
pub(super) enum StaleElements {
    /// Its members are the same, in the same order; these show other values, by the keys of the
    /// children's `_id`s.
    Replaced(HashMap<Vec<u8>, RawDocumentBuf>),
    /// Its members may be others.
    Any,
}

/// The parents of which subsets may be wrong.
pub(super) fn stale(unit: &Unit<'_>, subsets: &[Refreshed<'_>]) -> Result<Vec<StaleParent>> {
    let mut stale = Parents::default();
    for (place, refreshed) in subsets.iter().enumerate() {
        add_by_children(&mut stale, place, unit, refreshed)?;
        let subset = refreshed.subset;
        for (_, image) in unit.images(&subset.parent).changed() {
            let Some(now) = image.now() else { continue };
            // A document that was written as a whole has the array that the caller put there.
            let array = |holder: &Doc| path::get(holder, &subset.path).map(RawBson::from);
            if image
                .before()
                .is_none_or(|before| array(before) != array(now))
            {
                stale.search(place, id(now).into());
            }
        }
    }
    Ok(stale.0.into_values().collect())
}

fn add_by_children(
    stale: &mut Parents,
    place: usize,
    unit: &Unit<'_>,
    refreshed: &Refreshed<'_>,
) -> Result<()> {
    let subset = refreshed.subset;
    let shows_id = match &subset.shown {
        None => true,
        Some(names) => names.iter().any(|name| name == "_id"),
    };
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
                    stale.replace(place, parent.into(), key::of(id(now)), &element);
                });
                continue;
            }
        }
        // What was not stored by a write that knew the filter may have counted.
        let before = before.unwrap_or(image.before());
        for child in before.into_iter().chain(now) {
            references(child, &subset.reference, |parent| {
                stale.search(place, parent.into());
            });
        }
    }
    Ok(())
}

/// All that the members of a subset and their order depend on: the parents and the sort keys.
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

    fn search(&mut self, place: usize, parent: RawBson) {
        self.parent(parent)
            .elements
            .insert(place, StaleElements::Any);
    }

    fn replace(&mut self, place: usize, parent: RawBson, child: Vec<u8>, element: &RawDocumentBuf) {
        let elements = self.parent(parent).elements.entry(place);
        let elements = elements.or_insert_with(|| StaleElements::Replaced(HashMap::new()));
        if let StaleElements::Replaced(elements) = elements {
            elements.insert(child, element.clone());
        }
    }
}
