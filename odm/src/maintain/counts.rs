//! Counts: how many children a parent has.
//!
//! What a unit changes of the children is added to the number, so that its work does not grow with
//! them; a number that cannot be built upon is counted anew, as an audit does.

use std::collections::BTreeMap;

use bson::{RawBson, RawBsonRef, RawDocument};

use super::{
    Effect,
    places::Fields,
    unit::{Unit, id},
};
use crate::{
    catalog::{Count, references},
    error::Result,
    mql::{Filter, Test, key, path},
    store::{Find, Reader},
};

/// Brings up the counts that the changes of a unit make wrong, in the order in which their filters ask
/// for each other.
pub(super) async fn apply(unit: &mut Unit<'_>) -> Result<()> {
    let catalog = unit.catalog;
    for count in catalog.counts() {
        bring_up(unit, count).await?;
    }
    Ok(())
}

async fn bring_up(unit: &mut Unit<'_>, count: &Count) -> Result<()> {
    let start = unit.transaction.cost();
    let mut changes: BTreeMap<Vec<u8>, (RawBson, i64)> = BTreeMap::new();
    for effect in unit.changes.of(&count.child) {
        for (child, by) in [(&effect.before, -1), (&effect.after, 1)] {
            let Some(child) = child.as_deref().filter(|child| count.filter.matches(child)) else {
                continue;
            };
            for (key, parent) in parents(count, child) {
                changes.entry(key).or_insert((parent, 0)).1 += by;
            }
        }
    }
    changes.retain(|_, (_, by)| *by != 0);
    // A document that was written as a whole has the number that the caller put there.
    let mut held: BTreeMap<Vec<u8>, Option<i64>> = BTreeMap::new();
    for Effect { before, after } in unit.changes.of(&count.parent) {
        let Some(after) = after else { continue };
        let number = |document: &RawDocument| integer(path::get(document, &count.path));
        let before = before.as_deref().map(number);
        if before != Some(number(after)) {
            let key = key::of(id(after));
            changes.entry(key.clone()).or_insert((id(after).into(), 0));
            held.insert(key, before.flatten());
        }
    }
    for (key, (parent, by)) in changes {
        // A child may refer to a parent that does not exist, and is counted when it does.
        let Some(document) = unit.get(&count.parent, &parent).await? else {
            continue;
        };
        let stored = path::get(&document, &count.path);
        let base = held.remove(&key).unwrap_or_else(|| integer(stored));
        let base = base.filter(|_| !unit.mends);
        let number = match base {
            Some(base) => base + by,
            None => count_anew(&*unit.transaction, count, &parent).await?,
        };
        if integer(stored) != Some(number) {
            let fields = vec![(count.path.clone(), Some(like(stored, number)))];
            unit.set(&count.parent, &parent, fields).await?;
        }
    }
    unit.step(start, || format!("`{}` of `{}`", count.path, count.parent));
    Ok(())
}

/// The counts of a document that are not what their definitions say, with what they should be.
pub(super) async fn wrong(
    reader: &dyn Reader,
    counts: &[&Count],
    holder: &RawDocument,
) -> Result<Fields> {
    let mut wrong = Fields::new();
    for count in counts {
        let stored = path::get(holder, &count.path);
        let number = count_anew(reader, count, &id(holder).into()).await?;
        if integer(stored) != Some(number) {
            wrong.push((count.path.clone(), Some(like(stored, number))));
        }
    }
    Ok(wrong)
}

/// The definition of a count.
async fn count_anew(reader: &dyn Reader, count: &Count, parent: &RawBson) -> Result<i64> {
    let of_parent = Filter::Path(count.reference.clone().into(), Test::Eq(parent.clone()));
    let find = Find {
        collection: count.child.clone(),
        filter: of_parent.and(count.filter.clone()),
        ..Find::default()
    };
    let (number, _) = reader.count(&find).await?;
    Ok(i64::try_from(number).unwrap_or(i64::MAX))
}

/// The parents of a child, each once.
fn parents(count: &Count, child: &RawDocument) -> BTreeMap<Vec<u8>, RawBson> {
    let mut parents = BTreeMap::new();
    references(child, &count.reference, |parent| {
        parents.insert(key::of(parent), parent.into());
    });
    parents
}

fn integer(value: Option<RawBsonRef<'_>>) -> Option<i64> {
    match value {
        Some(RawBsonRef::Int32(number)) => Some(number.into()),
        Some(RawBsonRef::Int64(number)) => Some(number),
        _ => None,
    }
}

/// A number of the type that is stored.
fn like(stored: Option<RawBsonRef<'_>>, number: i64) -> RawBson {
    match (stored, i32::try_from(number)) {
        (Some(RawBsonRef::Int32(_)), Ok(number)) => RawBson::Int32(number),
        _ => RawBson::Int64(number),
    }
}
