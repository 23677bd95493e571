//! The inverse references that a unit changes, collected so that a document with many of them is read and changed once.

use std::collections::HashMap;

use bson::{RawArrayBuf, RawBson};
use odm_mql::key;
use odm_store::{Error, ErrorKind, Result, mutants::mutant, show};

use super::super::{long_lists::warn_if_long, unit::Unit};
use crate::catalog::{Cardinality, Edge, references};

/// The references that are being changed.
#[derive(Default)]
pub(in crate::maintain) struct Sides<'e> {
    sides: Vec<InverseSide<'e>>,
    /// The position of each side by the collection and path of the reference, and the `_id`.
    positions: HashMap<(&'e str, &'e str, Vec<u8>), usize>,
}

/// One reference, or list of references, in one document.
struct InverseSide<'e> {
    edge: &'e Edge,
    id: RawBson,
    /// The position of the document in the unit, if it exists.
    document: Option<usize>,
    /// The documents that the side names, in order; `None` where one was removed.
    targets: Vec<Option<RawBson>>,
    /// The position of each target, by its key.
    at: HashMap<Vec<u8>, usize>,
    is_changed: bool,
}

impl<'e> Sides<'e> {
    /// Reads the documents that hold an edge, in one call.
    pub(in crate::maintain) async fn load(
        &mut self,
        unit: &mut Unit<'_>,
        edge: &'e Edge,
        ids: Vec<RawBson>,
    ) -> Result<()> {
        unit.load(&edge.from, &ids).await?;
        for id in ids {
            self.position(unit, edge, &id).await?;
        }
        Ok(())
    }

    async fn position(
        &mut self,
        unit: &mut Unit<'_>,
        edge: &'e Edge,
        id: &RawBson,
    ) -> Result<usize> {
        let key = (
            edge.from.as_str(),
            edge.path.as_str(),
            key::of(id.as_raw_bson_ref()),
        );
        if let Some(&position) = self.positions.get(&key) {
            return Ok(position);
        }
        let found = unit
            .load_existing(&edge.from, std::slice::from_ref(id))
            .await?;
        let mut side = InverseSide {
            edge,
            id: id.clone(),
            document: found.first().copied(),
            targets: Vec::new(),
            at: HashMap::new(),
            is_changed: false,
        };
        if let Some(at) = side.document
            && let Some(document) = unit.document(&edge.from, at)
        {
            references(document, &edge.path, |target| side.add(target.into()));
        }
        let position = self.sides.len();
        self.sides.push(side);
        self.positions.insert(key, position);
        Ok(position)
    }

    async fn side(
        &mut self,
        unit: &mut Unit<'_>,
        edge: &'e Edge,
        id: &RawBson,
    ) -> Result<&mut InverseSide<'e>> {
        let position = self.position(unit, edge, id).await?;
        Ok(&mut self.sides[position])
    }

    /// The documents that a loaded reference names.
    pub(in crate::maintain) fn targets(&self, edge: &'e Edge, id: &RawBson) -> Vec<RawBson> {
        let key = (
            edge.from.as_str(),
            edge.path.as_str(),
            key::of(id.as_raw_bson_ref()),
        );
        let side = self
            .positions
            .get(&key)
            .map(|&position| &self.sides[position]);
        side.map(|side| side.targets.iter().flatten().cloned().collect())
            .unwrap_or_default()
    }

    /// Makes the target of a reference name its holder.
    pub(in crate::maintain) async fn attach(
        &mut self,
        unit: &mut Unit<'_>,
        edge: &'e Edge,
        other: &'e Edge,
        own: &RawBson,
        target: &RawBson,
    ) -> Result<()> {
        let side = self.side(unit, other, target).await?;
        // The check of added references reports a target that does not exist.
        if side.document.is_none() || side.at.contains_key(&key::of(own.as_raw_bson_ref())) {
            return Ok(());
        }
        side.is_changed = true;
        let previous = match other.cardinality {
            Cardinality::Many => Vec::new(),
            Cardinality::One | Cardinality::Optional => side.clear(),
        };
        side.add(own.clone());
        for previous in previous {
            if mutant("previous inverse reference") {
                break;
            }
            self.detach(unit, edge, &previous, target).await?;
        }
        Ok(())
    }

    /// Removes a document from a reference, if the reference still names it.
    pub(in crate::maintain) async fn detach(
        &mut self,
        unit: &mut Unit<'_>,
        edge: &'e Edge,
        from: &RawBson,
        target: &RawBson,
    ) -> Result<()> {
        let side = self.side(unit, edge, from).await?;
        if let Some(position) = side.at.remove(&key::of(target.as_raw_bson_ref())) {
            side.targets[position] = None;
            side.is_changed = true;
        }
        Ok(())
    }

    /// Removes the duplicates from a list.
    pub(in crate::maintain) async fn unite(
        &mut self,
        unit: &mut Unit<'_>,
        edge: &'e Edge,
        id: &RawBson,
    ) -> Result<()> {
        self.side(unit, edge, id).await?.unite();
        Ok(())
    }

    /// Changes the documents whose references have changed.
    pub(in crate::maintain) async fn store(self, unit: &mut Unit<'_>) -> Result<()> {
        for side in self.sides.into_iter().filter(|side| side.is_changed) {
            let Some(at) = side.document else { continue };
            let mut left = side.targets.into_iter().flatten();
            let value = match side.edge.cardinality {
                Cardinality::Many => {
                    let mut list = RawArrayBuf::new();
                    let members = left.map(|target| list.push(target)).count();
                    warn_if_long(&side.edge.from, &side.edge.path, members);
                    RawBson::Array(list)
                }
                Cardinality::Optional => left.next().unwrap_or(RawBson::Null),
                Cardinality::One => match left.next() {
                    Some(target) => target,
                    None => return Err(cannot_be_empty(side.edge, &side.id)),
                },
            };
            let fields = vec![(side.edge.path.clone(), Some(value))];
            unit.set(&side.edge.from, at, fields).await?;
        }
        Ok(())
    }
}

impl InverseSide<'_> {
    fn add(&mut self, target: RawBson) {
        let key = key::of(target.as_raw_bson_ref());
        self.at.insert(key, self.targets.len());
        self.targets.push(Some(target));
    }

    fn unite(&mut self) {
        for target in self.clear() {
            if !self.at.contains_key(&key::of(target.as_raw_bson_ref())) {
                self.add(target);
            }
        }
        self.is_changed = true;
    }

    /// Removes all documents that the side names, and returns them.
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
        "empty reference: `{}.{}` of the document with `_id` = {} would lose the document that it names, \
         and cannot be empty; give it another first",
        edge.from,
        edge.path,
        show(id),
    );
    Error::new(ErrorKind::InvalidUpdate, message).at(&edge.from, Some(&edge.path), Some(id.clone()))
}
