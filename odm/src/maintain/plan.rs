//! Dry runs of writes.

use std::fmt;

use odm_store::{Cost, Result, Store, TransactionOptions};

use super::{
    pipeline::{self, Work},
    unit::{Bounds, Unit},
    write::Write,
};
use crate::catalog::{COLLECTION, COUNTERS, Catalog, OUTBOX, is_current};

/// The result of a dry run: the changes that a write would make, and the cost of its steps.
///
/// Its `Display` is a line for each collection and for each step.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let plan = shop.reviews.delete(4).plan().await?;
/// println!("{plan}");
/// let names: Vec<&str> = plan.collections.iter().map(|planned| planned.collection.as_str()).collect();
/// assert_eq!((plan.matched, names), (1, vec!["products", "reviews"]));
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WritePlan {
    /// How many documents the write itself would match.
    pub matched: u64,
    /// The collections in which documents would be different, in the order of their names.
    pub collections: Vec<PlannedChanges>,
    /// The steps of the unit, in order.
    pub steps: Vec<PlanStep>,
}

/// The numbers of documents that a write would insert, change and remove in one collection.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let plan = shop.products.delete(3).plan().await?;
/// let removed: u64 = plan.collections.iter().map(|planned| planned.removed).sum();
/// assert_eq!(removed, 2); // the table, and its manual
/// # Ok(()) });
/// ```
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

/// One step of a write: the write itself, or a consequence of it.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let plan = shop.reviews.delete(4).plan().await?;
/// for step in &plan.steps {
///     println!("{}: {} documents read", step.name, step.cost.documents_examined);
/// }
/// assert!(!plan.steps.is_empty());
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PlanStep {
    /// The write, or the derived fields that the step refreshes, or leaves to the [worker](crate::Database::wait_for_refreshes)
    /// that refreshes them later.
    pub name: String,
    /// The cost of the step's calls to the store. Its `documents_written` counts the documents that the step changed; the last
    /// step writes them together.
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
        for PlanStep { name, cost } in &self.steps {
            writeln!(
                f,
                "{name}: {} index entries and {} documents read, {} changed",
                cost.keys_examined, cost.documents_examined, cost.documents_written
            )?;
        }
        Ok(())
    }
}

/// Runs a write in a transaction of its own, and rolls it back. Returns `None` if the catalog is not in force.
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
    let (policy, bounds) = (write.policy(), Bounds::default());
    let mut unit = Unit::new(catalog, &mut *transaction, policy, bounds, true);
    let (progress, settled) = pipeline::run(&mut unit, write).await?;
    let collections = planned(&unit);
    let plan = WritePlan {
        matched: progress.summary.matched,
        collections,
        steps: unit.into_totals(settled).steps,
    };
    transaction.rollback().await?;
    Ok(Some(plan))
}

pub(super) fn planned(unit: &Unit<'_>) -> Vec<PlannedChanges> {
    let collections = unit.collections().map(|collection| {
        let numbers = unit.images(collection).numbers();
        PlannedChanges {
            collection: collection.to_owned(),
            inserted: numbers.inserted,
            changed: numbers.changed,
            removed: numbers.removed,
        }
    });
    collections
        .filter(|of| of.inserted + of.changed + of.removed > 0)
        // The last numbers of sequences and the outbox records are no documents of a user.
        .filter(|of| ![COLLECTION, COUNTERS, OUTBOX].contains(&&*of.collection))
        .collect()
}
