//! Repairs of dangling references, and of inverse references that contradict each other, as far as the right state can be known.

use std::collections::HashSet;

use bson::{RawBson, RawDocument};
use odm_mql::key;
use odm_store::Result;

use super::{
    super::{
        delete_rules::{cleared, set_references},
        unit::{Doc, Unit, id},
    },
    ReferrerLookup, Sides, is_no_list, targets,
};
use crate::catalog::{Cardinality, Edge, OnDelete};

/// Repairs the references along an edge in some documents.
///
/// For inverse references, a scalar side decides over a list, a missing member of one of two lists is added, and a scalar that
/// its inverse contradicts is emptied.
pub(in crate::maintain) async fn repair(
    unit: &mut Unit<'_>,
    edge: &Edge,
    ids: &[RawBson],
) -> Result<()> {
    let other = unit.catalog.inverse_of(edge);
    let mut sides = Sides::default();
    let positions = unit.load_existing(&edge.from, ids).await?;
    let images = unit.images(&edge.from);
    let documents: Vec<(usize, Doc)> = positions
        .into_iter()
        .filter_map(|at| Some((at, images.at(at).now()?.clone())))
        .collect();
    let mut named: Vec<RawBson> = Vec::new();
    for (_, document) in &documents {
        named.extend(targets(document, edge).into_values());
    }
    unit.load(&edge.to, &named).await?;
    if other.is_some() {
        // The decision depends on both sides, although the repair may write only one of them.
        unit.exclude(&edge.from, ids);
        unit.exclude(&edge.to, &named);
    }
    let asked = documents.iter().map(|(_, document)| document);
    let mut inverses = other.map(|other| ReferrerLookup::new(other, asked));
    for (at, document) in &documents {
        let own = RawBson::from(id(document));
        let own_key = key::of(id(document));
        let mut gone = HashSet::new();
        for (key, target) in targets(document, edge) {
            let targets_images = unit.images(&edge.to);
            let position = targets_images.position(&key);
            let named = position.and_then(|at| targets_images.at(at).now().cloned());
            let Some(named) = named else {
                if other.is_some() && edge.cardinality != Cardinality::One {
                    sides.detach(unit, edge, &own, &target).await?;
                } else {
                    gone.insert(key);
                }
                continue;
            };
            let (Some(other), Some(inverses)) = (other, &mut inverses) else {
                continue;
            };
            if inverses.refers_to(&named, &own_key) {
                continue;
            }
            match decision(edge, other, &named) {
                Decision::Attach => sides.attach(unit, edge, other, &own, &target).await?,
                Decision::Detach => sides.detach(unit, edge, &own, &target).await?,
                Decision::Unknown => {}
            }
        }
        if is_no_list(document, edge) {
            sides.unite(unit, edge, &own).await?;
        }
        let has_rule = matches!(
            (&edge.on_delete, &edge.list),
            (OnDelete::Pull, Some(_)) | (OnDelete::Nullify, _)
        );
        if has_rule && !gone.is_empty() {
            let fields = cleared(document, edge, &gone);
            set_references(unit, edge, *at, fields).await?;
        }
    }
    sides.store(unit).await
}

/// The repair of a reference that its inverse contradicts.
enum Decision {
    /// The reference is right: its target is made to name the holder.
    Attach,
    /// The inverse is right: the reference is removed.
    Detach,
    /// Both sides claim a document, and neither can be empty.
    Unknown,
}

fn decision(edge: &Edge, other: &Edge, named: &RawDocument) -> Decision {
    let is_list = edge.cardinality == Cardinality::Many;
    let other_is_list = other.cardinality == Cardinality::Many;
    // A scalar side decides over a list; sides of one kind decide together.
    let decides = !is_list || other_is_list;
    let is_contradicted = !other_is_list && !targets(named, other).is_empty();
    if decides && !is_contradicted {
        Decision::Attach
    } else if edge.cardinality != Cardinality::One {
        Decision::Detach
    } else if other.cardinality == Cardinality::Optional {
        // The reference cannot be empty, and its inverse can name another document.
        Decision::Attach
    } else {
        Decision::Unknown
    }
}
