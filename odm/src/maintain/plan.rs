//! What a write would do.

use std::fmt;

use super::{Changes, Effect, Unit, Write, steps};
use crate::{
    catalog::{Catalog, is_current},
    error::Result,
    store::{Cost, Store, TransactionOptions},
};

/// What a write would do, with all that follows from it: made by running it and undoing it.
///
/// Its `Display` is a line for each collection and for each step.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WritePlan {
    /// How many documents the write itself would match.
    pub matched: u64,
    /// The collections in which documents would be different.
    pub collections: Vec<PlannedChanges>,
    /// The steps of the unit, in order.
    pub steps: Vec<Step>,
}

/// What a write would do to one collection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedChanges {
    /// The collection.
    pub collection: String,
    /// How many documents would be new.
    pub inserted: u64,
    /// How many would be changed.
    pub changed: u64,
    /// How many would be gone.
    pub removed: u64,
}

/// One step of a unit: the write itself, or what one relation makes of it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// The write, or the derived fields that it makes wrong, in words.
    pub name: String,
    /// What it touches.
    pub cost: Cost,
}

impl fmt::Display for WritePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for changes in &self.collections {
            writeln!(
                f,
                "`{}`: {} inserted, {} changed, {} removed",
                changes.collection, changes.inserted, changes.changed, changes.removed
            )?;
        }
        for Step { name, cost } in &self.steps {
            writeln!(
                f,
                "{name}: {} index entries and {} documents read, {} written",
                cost.keys_examined, cost.documents_examined, cost.documents_written
            )?;
        }
        Ok(())
    }
}

/// Runs a write in a transaction of its own, and undoes it. Gives none if the catalog is not the one
/// that is in force.
pub(crate) async fn plan(
    store: &dyn Store,
    catalog: &Catalog,
    write: &Write,
) -> Result<Option<WritePlan>> {
    let mut transaction = store.begin(TransactionOptions::default()).await?;
    if !is_current(catalog, &*transaction).await? {
        transaction.rollback().await?;
        return Ok(None);
    }
    let mut unit = Unit::new(catalog, &mut *transaction);
    let touched = steps(&mut unit, write).await?;
    let plan = WritePlan {
        matched: touched.matched,
        collections: planned(&unit.changes),
        steps: unit.steps,
    };
    transaction.rollback().await?;
    Ok(Some(plan))
}

fn planned(changes: &Changes) -> Vec<PlannedChanges> {
    let mut planned = Vec::new();
    for collection in changes.collections() {
        let mut of = PlannedChanges {
            collection: collection.to_owned(),
            ..PlannedChanges::default()
        };
        for Effect { before, after } in changes.of(collection) {
            match (before, after) {
                (None, Some(_)) => of.inserted += 1,
                (Some(_), None) => of.removed += 1,
                (Some(before), Some(after)) if before != after => of.changed += 1,
                _ => {}
            }
        }
        if of.inserted + of.changed + of.removed > 0 {
            planned.push(of);
        }
    }
    planned
}
