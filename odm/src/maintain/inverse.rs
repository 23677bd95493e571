//! Inverse references: two references that name each other are kept consistent.
//!
//! The side that a write changes decides, and the other side follows. If two references of one unit claim the same document, the
//! later wins.

mod repair;
mod sides;

use std::collections::{BTreeMap, HashMap, HashSet};

use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument};

use super::unit::{Doc, Unit, id};
use crate::catalog::{Cardinality, Edge, references};
use odm_mql::{
    key,
    path::{self, Lookup},
};
use odm_store::{Error, ErrorKind, Result, mutants::mutant, show};
pub(super) use repair::repair;
pub(super) use sides::Sides;

/// The changes of the references along an edge. Their inverses, the lists along the second edge, are left to the caller.
pub(super) type LeftChanges<'c> = (&'c Edge, &'c Edge, ReferenceChanges);

/// Changes the inverses of the references that the user's own write changed, except along the pairs of edges that `is_left`
/// selects: their changes are returned.
pub(super) async fn apply<'c>(
    unit: &mut Unit<'c>,
    collection: &str,
    positions: &[usize],
    is_left: impl Fn(&mut Unit<'c>, &Edge, &Edge) -> bool,
) -> Result<Vec<LeftChanges<'c>>> {
    let catalog = unit.catalog;
    // Before the first change: if both sides are lists of one document, a change of one list changes the other.
    for edge in catalog.edges_from(collection) {
        if catalog.inverse_of(edge).is_some() {
            refuse_doubled(unit, edge, positions)?;
        }
    }
    let mut left = Vec::new();
    for edge in catalog.edges_from(collection) {
        let Some(other) = catalog.inverse_of(edge) else {
            continue;
        };
        store_missing_lists(unit, edge, positions).await?;
        let changes = changes(unit, edge, positions)?;
        if changes.is_empty() {
            continue;
        }
        // A repair in another unit may write one side after it has read the other.
        for (own, target) in changes.claims.iter().chain(&changes.lost) {
            unit.share(&edge.from, [own]);
            unit.share(&edge.to, [target]);
        }
        if is_left(unit, edge, other) {
            left.push((edge, other, changes));
            continue;
        }
        let ReferenceChanges { claims, lost } = changes;
        let mut sides = Sides::default();
        let named = claims.iter().chain(&lost).map(|(_, target)| target);
        sides.load(unit, other, named.cloned().collect()).await?;
        if other.cardinality != Cardinality::Many {
            let previous = claims
                .iter()
                .flat_map(|(_, target)| sides.targets(other, target));
            let previous: Vec<RawBson> = previous.collect();
            sides.load(unit, edge, previous).await?;
        }
        for (own, target) in &claims {
            if mutant("new inverse reference") {
                break;
            }
            sides.attach(unit, edge, other, own, target).await?;
        }
        // After all claims: a document that one reference has lost may be claimed by another.
        for (own, target) in &lost {
            if mutant("lost inverse reference") {
                break;
            }
            sides.detach(unit, other, target, own).await?;
        }
        sides.store(unit).await?;
    }
    Ok(left)
}

/// Stores an empty list where a write left it out, as an upsert can: an audit would report a missing list as older than its
/// declaration.
async fn store_missing_lists(unit: &mut Unit<'_>, edge: &Edge, positions: &[usize]) -> Result<()> {
    for &at in positions {
        let document = unit.document(&edge.from, at);
        let is_missing = document.is_some_and(|document| is_list_missing(document, edge));
        if is_missing && !mutant("empty inverse list") {
            let empty = RawBson::Array(RawArrayBuf::new());
            let fields = vec![(edge.path.clone(), Some(empty))];
            unit.set(&edge.from, at, fields).await?;
        }
    }
    Ok(())
}

/// The references along an edge that a write has added and removed, each after the `_id` of its holder.
pub(super) struct ReferenceChanges {
    pub(super) claims: Vec<(RawBson, RawBson)>,
    pub(super) lost: Vec<(RawBson, RawBson)>,
}

impl ReferenceChanges {
    fn is_empty(&self) -> bool {
        self.claims.is_empty() && self.lost.is_empty()
    }
}

fn changes(unit: &Unit<'_>, edge: &Edge, positions: &[usize]) -> Result<ReferenceChanges> {
    let mut changes = ReferenceChanges {
        claims: Vec::new(),
        lost: Vec::new(),
    };
    let images = unit.images(&edge.from);
    for &at in positions {
        let image = images.at(at);
        let (before, Some(now)) = (image.before(), image.now()) else {
            continue;
        };
        let own = RawBson::from(id(now));
        let held = before
            .map(|before| targets(before, edge))
            .unwrap_or_default();
        let wanted = targets(now, edge);
        let added = wanted.iter().filter(|(key, _)| !held.contains_key(*key));
        changes
            .claims
            .extend(added.map(|(_, target)| (own.clone(), target.clone())));
        let gone = held
            .into_iter()
            .filter(|(key, _)| !wanted.contains_key(key));
        changes
            .lost
            .extend(gone.map(|(_, target)| (own.clone(), target)));
    }
    Ok(changes)
}

/// The top-level field of a reference, to see whether it changed.
fn field<'a>(document: &'a RawDocument, edge: &Edge) -> Option<RawBsonRef<'a>> {
    path::get(document, path::split(&edge.path).0)
}

/// The documents that a document references along an edge.
pub(super) fn targets(document: &RawDocument, edge: &Edge) -> BTreeMap<Vec<u8>, RawBson> {
    let mut targets = BTreeMap::new();
    references(document, &edge.path, |target| {
        targets.insert(key::of(target), target.into());
    });
    targets
}

/// Tests whether documents reference some others along an edge. The list of a document is read once, however many of its members
/// are tested.
pub(super) struct ReferrerLookup<'e> {
    edge: &'e Edge,
    /// The keys of the other documents.
    asked: HashSet<Vec<u8>>,
    /// The other documents that a document references, by its key.
    found: HashMap<Vec<u8>, HashSet<Vec<u8>>>,
}

impl<'e> ReferrerLookup<'e> {
    pub(super) fn new<'d>(edge: &'e Edge, asked: impl Iterator<Item = &'d Doc>) -> Self {
        ReferrerLookup {
            edge,
            asked: asked.map(|document| key::of(id(document))).collect(),
            found: HashMap::new(),
        }
    }

    /// Whether a document references one of the others. The document must not change between calls.
    pub(super) fn refers_to(&mut self, document: &RawDocument, other: &[u8]) -> bool {
        let found = self.found.entry(key::of(id(document)));
        let found = found.or_insert_with(|| {
            let mut found = HashSet::new();
            references(document, &self.edge.path, |target| {
                let key = key::of(target);
                if self.asked.contains(&key) {
                    found.insert(key);
                }
            });
            found
        });
        found.contains(other)
    }
}

/// The first reference that a document holds twice.
fn doubled(document: &RawDocument, edge: &Edge) -> Option<RawBson> {
    let mut seen = HashSet::new();
    let mut twice = None;
    references(document, &edge.path, |target| {
        if !seen.insert(key::of(target)) {
            twice.get_or_insert_with(|| RawBson::from(target));
        }
    });
    twice
}

/// Refuses changed lists of inverse references that hold a reference twice: its inverse could name the holder only once.
fn refuse_doubled(unit: &Unit<'_>, edge: &Edge, positions: &[usize]) -> Result<()> {
    let images = unit.images(&edge.from);
    for &at in positions {
        let image = images.at(at);
        let (before, Some(now)) = (image.before(), image.now()) else {
            continue;
        };
        if before.is_some_and(|before| field(before, edge) == field(now, edge)) {
            continue;
        }
        let Some(target) = doubled(now, edge).filter(|_| !mutant("doubled reference")) else {
            continue;
        };
        let own = RawBson::from(id(now));
        let message = format!(
            "doubled reference: `{}.{}` of the document with `_id` = {} holds {} twice, and its inverse in \
             `{}` can name it only once; remove one",
            edge.from,
            edge.path,
            show(&own),
            show(&target),
            edge.to
        );
        let error = Error::new(ErrorKind::InvalidUpdate, message);
        return Err(error.at(&edge.from, Some(&edge.path), Some(own)));
    }
    Ok(())
}

/// Whether a list of inverse references is missing, as in a document from before its declaration, or holds a reference twice.
pub(super) fn is_no_list(document: &RawDocument, edge: &Edge) -> bool {
    is_list_missing(document, edge)
        || (edge.inverse.is_some()
            && edge.cardinality == Cardinality::Many
            && doubled(document, edge).is_some())
}

fn is_list_missing(document: &RawDocument, edge: &Edge) -> bool {
    edge.inverse.is_some()
        && edge.cardinality == Cardinality::Many
        && matches!(path::lookup(document, &edge.path), Lookup::Missing)
}
