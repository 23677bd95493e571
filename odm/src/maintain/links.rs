//! Two-way references: both sides of a pair say the same.
//!
//! Whoever wrote to one side has stated a fact; the other side follows, and whoever loses by it lets
//! go. Of two that claim the same document in one unit, the later wins.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    ops::ControlFlow,
};

use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

use super::{
    delete_rules::{nullified, pulled},
    unit::{Touched, Unit, id},
};
use crate::{
    catalog::{Cardinality, Edge, OnDelete, references},
    error::{Error, ErrorKind, Result, show},
    mql::{
        key,
        path::{self, Lookup},
    },
    store::Reader,
};

/// Brings the other sides of the references in step that the user's own write changed.
pub(super) async fn apply(unit: &mut Unit<'_>, collection: &str, touched: &Touched) -> Result<()> {
    let catalog = unit.catalog;
    for edge in catalog.edges_from(collection) {
        let Some(other) = catalog.inverse_of(edge) else {
            continue;
        };
        let mut claims = Vec::new();
        let mut lost = Vec::new();
        for &place in &touched.places {
            let effect = &unit.changes.of(collection)[place];
            let (before, Some(after)) = (effect.before.as_deref(), effect.after.as_deref()) else {
                continue;
            };
            let own = RawBson::from(id(after));
            let held = before
                .map(|before| targets(before, edge))
                .unwrap_or_default();
            let wanted = targets(after, edge);
            if before.is_none_or(|before| field(before, edge) != field(after, edge)) {
                once(edge, after, &own)?;
            }
            let added = wanted.iter().filter(|(key, _)| !held.contains_key(*key));
            claims.extend(added.map(|(_, target)| (own.clone(), target.clone())));
            let gone = held
                .into_iter()
                .filter(|(key, _)| !wanted.contains_key(key));
            lost.extend(gone.map(|(_, target)| (own.clone(), target)));
        }
        let mut sides = Sides::default();
        for (own, target) in claims {
            sides.attach(unit, edge, other, &own, &target).await?;
        }
        // After all claims: what one lets go, another may have taken.
        for (own, target) in lost {
            sides.detach(unit, other, &target, &own).await?;
        }
        sides.store(unit).await?;
    }
    Ok(())
}

/// The value of a reference, to see whether it changed.
fn field<'a>(document: &'a RawDocument, edge: &Edge) -> Option<RawBsonRef<'a>> {
    path::get(document, path::split(&edge.path).0)
}

/// The references that are being changed, so that a document with many of them is read and written
/// once.
#[derive(Default)]
struct Sides<'e> {
    sides: Vec<Side<'e>>,
    /// The place of each by the collection and path of the reference, and the `_id`.
    places: HashMap<(&'e str, &'e str, Vec<u8>), usize>,
}

/// One side of a pair in one document.
struct Side<'e> {
    edge: &'e Edge,
    id: RawBson,
    /// It is there.
    exists: bool,
    /// What it refers to, in order; none where one was taken out.
    targets: Vec<Option<RawBson>>,
    /// The place of each.
    at: HashMap<Vec<u8>, usize>,
    changed: bool,
}

impl<'e> Sides<'e> {
    async fn side(
        &mut self,
        unit: &Unit<'_>,
        edge: &'e Edge,
        id: &RawBson,
    ) -> Result<&mut Side<'e>> {
        let key = (
            edge.from.as_str(),
            edge.path.as_str(),
            key::of(id.as_raw_bson_ref()),
        );
        let place = match self.places.get(&key) {
            Some(place) => *place,
            None => {
                let document = unit.get(&edge.from, id).await?;
                let mut side = Side {
                    edge,
                    id: id.clone(),
                    exists: document.is_some(),
                    targets: Vec::new(),
                    at: HashMap::new(),
                    changed: false,
                };
                if let Some(document) = document {
                    references(&document, &edge.path, |target| side.add(target.into()));
                }
                let place = self.sides.len();
                self.sides.push(side);
                self.places.insert(key, place);
                place
            }
        };
        Ok(&mut self.sides[place])
    }

    /// Makes the document at the other end point back.
    async fn attach(
        &mut self,
        unit: &Unit<'_>,
        edge: &'e Edge,
        other: &'e Edge,
        own: &RawBson,
        target: &RawBson,
    ) -> Result<()> {
        let side = self.side(unit, other, target).await?;
        // One that is not there is found as a reference that leads nowhere.
        if !side.exists || side.at.contains_key(&key::of(own.as_raw_bson_ref())) {
            return Ok(());
        }
        side.changed = true;
        let previous = match other.holds {
            Cardinality::Many => Vec::new(),
            Cardinality::One | Cardinality::Optional => side.clear(),
        };
        side.add(own.clone());
        for previous in previous {
            self.detach(unit, edge, &previous, target).await?;
        }
        Ok(())
    }

    /// Makes a document let go of another, if it still holds it.
    async fn detach(
        &mut self,
        unit: &Unit<'_>,
        edge: &'e Edge,
        from: &RawBson,
        target: &RawBson,
    ) -> Result<()> {
        let side = self.side(unit, edge, from).await?;
        if let Some(place) = side.at.remove(&key::of(target.as_raw_bson_ref())) {
            side.targets[place] = None;
            side.changed = true;
        }
        Ok(())
    }

    /// Stores what has changed.
    async fn store(self, unit: &mut Unit<'_>) -> Result<()> {
        for side in self.sides.into_iter().filter(|side| side.changed) {
            let mut left = side.targets.into_iter().flatten();
            let value = match side.edge.holds {
                Cardinality::Many => {
                    let mut list = RawArrayBuf::new();
                    left.for_each(|target| list.push(target));
                    RawBson::Array(list)
                }
                Cardinality::Optional => left.next().unwrap_or(RawBson::Null),
                Cardinality::One => match left.next() {
                    Some(target) => target,
                    None => return Err(cannot_be_empty(side.edge, &side.id)),
                },
            };
            let fields = vec![(side.edge.path.clone(), Some(value))];
            unit.set_facts(&side.edge.from, &side.id, fields).await?;
        }
        Ok(())
    }
}

impl Side<'_> {
    fn add(&mut self, target: RawBson) {
        let key = key::of(target.as_raw_bson_ref());
        self.at.insert(key, self.targets.len());
        self.targets.push(Some(target));
    }

    /// Keeps each that it refers to once.
    fn unite(&mut self) {
        for target in self.clear() {
            if !self.at.contains_key(&key::of(target.as_raw_bson_ref())) {
                self.add(target);
            }
        }
        self.changed = true;
    }

    /// Takes out all that it refers to.
    fn clear(&mut self) -> Vec<RawBson> {
        self.at.clear();
        std::mem::take(&mut self.targets)
            .into_iter()
            .flatten()
            .collect()
    }
}

fn cannot_be_empty(edge: &Edge, id: &RawBson) -> Error {
    let message = format!(
        "`{}` of the document with the `_id` {} in `{}` cannot be empty, and would lose what it refers \
         to: give it another first",
        edge.path,
        show(id),
        edge.from,
    );
    Error::new(ErrorKind::InvalidUpdate, message).at(&edge.from, Some(&edge.path), Some(id.clone()))
}

/// What a document refers to along an edge.
fn targets(document: &RawDocument, edge: &Edge) -> BTreeMap<Vec<u8>, RawBson> {
    let mut targets = BTreeMap::new();
    references(document, &edge.path, |target| {
        targets.insert(key::of(target), target.into());
    });
    targets
}

/// The first reference that a document holds twice.
pub(super) fn doubled(document: &RawDocument, edge: &Edge) -> Option<RawBson> {
    let mut seen = HashSet::new();
    let mut twice = None;
    references(document, &edge.path, |target| {
        if !seen.insert(key::of(target)) {
            twice.get_or_insert_with(|| RawBson::from(target));
        }
    });
    twice
}

/// A list of a pair holds no reference twice: the other side has no place to say so.
fn once(edge: &Edge, document: &RawDocument, own: &RawBson) -> Result<()> {
    let Some(target) = doubled(document, edge) else {
        return Ok(());
    };
    let message = format!(
        "`{}` of the document with the `_id` {} in `{}` refers twice to the `_id` {} in `{}`, which can \
         point back only once",
        edge.path,
        show(own),
        edge.from,
        show(&target),
        edge.to
    );
    Err(Error::new(ErrorKind::InvalidUpdate, message).at(
        &edge.from,
        Some(&edge.path),
        Some(own.clone()),
    ))
}

/// The documents at the other end of a reference in these documents, by `_id`.
pub(super) async fn at_the_other_end(
    reader: &dyn Reader,
    edge: &Edge,
    documents: &[RawDocumentBuf],
) -> Result<HashMap<Vec<u8>, RawDocumentBuf>> {
    let mut ids = BTreeMap::new();
    for document in documents {
        ids.extend(targets(document, edge));
    }
    let ids: Vec<RawBson> = ids.into_values().collect();
    let mut there = HashMap::new();
    let each = &mut |_, document: &RawDocument| {
        there.insert(key::of(id(document)), document.to_owned());
        Ok(ControlFlow::Continue(()))
    };
    if !ids.is_empty() {
        reader.get(&edge.to, &ids, each).await?;
    }
    Ok(there)
}

/// Whether a document refers to another along an edge.
pub(super) fn points(document: &RawDocument, edge: &Edge, to: &RawDocument) -> bool {
    targets(document, edge).contains_key(&key::of(id(to)))
}

/// Whether a side of a pair that is a list is missing, as from before it was declared, or holds
/// something twice.
pub(super) fn is_no_list(document: &RawDocument, edge: &Edge) -> bool {
    edge.inverse.is_some()
        && edge.holds == Cardinality::Many
        && (matches!(path::lookup(document, &edge.path), Lookup::Missing)
            || doubled(document, edge).is_some())
}

/// Makes the references of documents lead somewhere, and back, as far as that can be known.
pub(super) async fn mend(unit: &mut Unit<'_>, edge: &Edge, ids: &[RawBson]) -> Result<()> {
    let other = unit.catalog.inverse_of(edge);
    let mut sides = Sides::default();
    for document in unit.get_many(&edge.from, ids).await? {
        let own = RawBson::from(id(&document));
        let documents = std::slice::from_ref(&document);
        let there = at_the_other_end(&*unit.transaction, edge, documents).await?;
        let mut gone = HashSet::new();
        for (key, target) in targets(&document, edge) {
            let Some(at_end) = there.get(&key) else {
                if other.is_some() && edge.holds != Cardinality::One {
                    sides.detach(unit, edge, &own, &target).await?;
                } else {
                    gone.insert(key);
                }
                continue;
            };
            let Some(other) = other.filter(|other| !points(at_end, other, &document)) else {
                continue;
            };
            let elsewhere = other.holds != Cardinality::Many && !targets(at_end, other).is_empty();
            let decides = edge.holds != Cardinality::Many || other.holds == Cardinality::Many;
            if decides && !elsewhere {
                sides.attach(unit, edge, other, &own, &target).await?;
            } else if edge.holds != Cardinality::One {
                sides.detach(unit, edge, &own, &target).await?;
            } else if other.holds == Cardinality::Optional {
                sides.attach(unit, edge, other, &own, &target).await?;
            }
        }
        if is_no_list(&document, edge) {
            sides.side(unit, edge, &own).await?.unite();
        }
        if !gone.is_empty() {
            let fields = match (&edge.on_delete, &edge.list) {
                (OnDelete::Pull, Some(list)) => pulled(&document, edge, list, &gone),
                (OnDelete::Nullify, _) => nullified(&document, edge, &gone),
                _ => continue,
            };
            unit.set_facts(&edge.from, &own, fields).await?;
        }
    }
    sides.store(unit).await
}
