//! The one engine through which every write goes.
//!
//! A write, typed or raw, from a repository or a transaction, arrives here as BSON. [`apply`]
//! carries it out in the order that the relations need, by the catalog alone. Effects on base data
//! and the kinds of derived fields have a file each.

mod alone;
mod audit;
mod base;
mod cold;
mod delete_rules;
mod derived;
mod import;
mod inverse;
mod long_lists;
mod outbox;
mod pending;
mod places;
mod plan;
mod read_only;
mod references;
mod repair;
mod run;
mod sequence;
#[cfg(test)]
mod tests;
mod unit;
mod validation;
mod versions;

use std::{borrow::Cow, fmt, slice, sync::Arc};

use bson::{RawBson, RawDocument, RawDocumentBuf};

pub(crate) use audit::{AuditScope, Checked, check};
pub use audit::{Finding, Problem};
use base::Touched;
pub use derived::DerivedKind;
pub(crate) use derived::{children_of, shown};
pub(crate) use import::{Import, Imported};
pub(crate) use outbox::{
    FailedRefresh, Retry, Waiting, has_records, has_waiting, lag, newest_waiting, oldest_waiting,
};
pub use outbox::{Lag, ParkedRecord};
pub(crate) use pending::{as_read, is_read_as_pending};
pub(crate) use plan::plan;
pub use plan::{PlanStep, PlannedChanges, WritePlan};
pub(crate) use run::{NamedDocument, NamedWrite, Work, run};
pub(crate) use sequence::{IdOfNumber, last_number};
pub(crate) use unit::Doc;
use unit::{Bounds, HeldBack, Unit};
use versions::Earlier;
pub(crate) use versions::without_derived;

use odm_mql::{Filter, Update};
use odm_store::{Cost, DeleteWrite, Result, Transaction, UpdateWrite};

use crate::catalog::Catalog;

/// A write as a user asks for it.
#[derive(Debug, Clone)]
pub(crate) enum Write {
    /// New documents.
    Insert {
        collection: String,
        documents: Vec<Doc>,
        /// Of documents without an `_id`, which is the next number of a sequence.
        numbered: Option<IdOfNumber>,
        check_returned: ReturnedCheck,
    },
    /// A change of the documents that match.
    Update {
        write: UpdateWrite,
        /// The check that a document which an upsert inserts must pass, with all that is derived in
        /// it.
        check_inserted: fn(&RawDocument) -> Result<()>,
        /// Whether it is refused where it would leave a document that its model cannot read.
        is_typed: bool,
        returning: Option<Returning>,
    },
    /// Documents that replace those with the same `_id`s, or new ones where `upsert` allows it.
    Replace {
        collection: String,
        documents: Vec<Doc>,
        upsert: bool,
        /// Whether it returns the documents byte for byte: a stored `_id` keeps the type of its number.
        is_raw: bool,
        check_returned: ReturnedCheck,
    },
    /// A new document, unless there is one with the same unique key.
    UpsertBy {
        collection: String,
        key: Filter,
        document: Doc,
        numbered: Option<IdOfNumber>,
        found: Found,
        /// Reads the document that is there then.
        check: ReturnedCheck,
    },
    /// The difference between a document as it was read and as the caller left it, if it is still
    /// as it was read.
    Modify {
        collection: String,
        id: RawBson,
        read: RawDocumentBuf,
        from: RawDocumentBuf,
        to: Doc,
        check_returned: ReturnedCheck,
    },
    /// A removal of the documents that match.
    Delete {
        write: DeleteWrite,
        returning: Option<Returning>,
    },
    /// These documents become what their definitions say.
    Repair {
        collection: String,
        ids: Vec<RawBson>,
    },
}

/// What becomes of the document that an upsert finds by a unique key.
#[derive(Debug, Clone)]
pub(crate) enum Found {
    /// It gets the fields of the new one.
    Replaced,
    /// It is changed.
    Updated { change: Update, is_typed: bool },
    /// It stays as it is.
    Kept,
}

/// That a write returns the documents that match, as they were before it or as they are after it, without their
/// cold parts. The removed ones are returned as they were.
#[derive(Debug, Clone)]
pub(crate) struct Returning {
    pub(crate) before: bool,
    pub(crate) check: ReturnedCheck,
}

/// A check of the whole documents that a write returns, as they will be stored. An error rolls the unit
/// back. It may be called once for each time that the store runs the unit.
#[derive(Clone)]
pub(crate) struct ReturnedCheck(Arc<ReturnedCheckFn>);

type ReturnedCheckFn = dyn Fn(&[Doc]) -> Result<()> + Send + Sync;

impl ReturnedCheck {
    pub(crate) fn new(check: impl Fn(&[Doc]) -> Result<()> + Send + Sync + 'static) -> Self {
        ReturnedCheck(Arc::new(check))
    }

    fn run(&self, documents: &[Doc]) -> Result<()> {
        (self.0)(documents)
    }
}

impl fmt::Debug for ReturnedCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReturnedCheck").finish_non_exhaustive()
    }
}

/// The result of a write.
#[derive(Debug, Default)]
pub(crate) struct WriteOutcome {
    /// How many documents matched.
    pub(crate) matched: u64,
    /// How many of them are different now.
    pub(crate) modified: u64,
    /// Whether an upsert inserted a document.
    pub(crate) inserted: bool,
    /// What the whole unit touched.
    pub(crate) cost: Cost,
    /// The same by its steps, if it was asked for.
    pub(crate) steps: Vec<PlanStep>,
    /// Whether something is left to the worker of the outbox.
    pub(crate) has_queued: bool,
}

/// Applies a write with all that follows from it, in this order:
///
/// 1. the user's own changes of *base data*;
/// 2. to a fixed point, their effects on base data: delete rules, inverse references, cold parts.
///    Versions are a function of the base data, and join its writes;
/// 3. derived fields, in the order of the graph, each once for every holder that may be wrong. A
///    refresh has no effects;
/// 4. the validation of the documents that the write names;
/// 5. one batch that writes everything;
/// 6. the checks: every added reference names a document, and the caller can read what the write returns.
///    An error rolls everything back.
///
/// So a unit that deletes a document and all that refers to it is no error, and a field is refreshed
/// once, however many of its sources changed.
///
/// After an error the transaction may hold a part of the unit, and must not be committed. An error
/// of kind `Stale` of a `Modify` comes before anything is written.
pub(crate) async fn apply(
    catalog: &Catalog,
    transaction: &mut dyn Transaction,
    write: &Write,
    with_steps: bool,
) -> Result<WriteOutcome> {
    apply_within(catalog, transaction, write, Bounds::default(), with_steps).await
}

/// [`apply`] with other bounds.
async fn apply_within(
    catalog: &Catalog,
    transaction: &mut dyn Transaction,
    write: &Write,
    bounds: Bounds,
    with_steps: bool,
) -> Result<WriteOutcome> {
    let mut unit = Unit::new(catalog, transaction, bounds, with_steps);
    let touched = steps(&mut unit, write).await?;
    outcome(unit, touched)
}

/// What writes have left to the next one that is committed with them.
#[derive(Debug, Default)]
struct Predecessors {
    earlier: Earlier,
    held_back: HeldBack,
}

/// [`apply`], as one of several writes that are committed together: uniqueness holds at the end of the last one. Until then
/// documents are held back.
async fn apply_part(
    catalog: &Catalog,
    transaction: &mut dyn Transaction,
    write: &Write,
    with_steps: bool,
    (before, is_last): (&mut Predecessors, bool),
) -> Result<WriteOutcome> {
    let unit = Unit::new(catalog, transaction, Bounds::default(), with_steps);
    let mut unit = unit.after(std::mem::take(&mut before.held_back), !is_last);
    unit.earlier = std::mem::take(&mut before.earlier);
    let touched = steps(&mut unit, write).await?;
    before.earlier = unit.take_earlier();
    before.held_back = unit.take_held_back();
    outcome(unit, touched)
}

fn outcome(unit: Unit<'_>, touched: Touched) -> Result<WriteOutcome> {
    let has_queued = unit.outbox.has_queued();
    let (steps, cost) = unit.into_cost()?;
    Ok(WriteOutcome {
        matched: touched.matched,
        modified: touched.modified,
        inserted: touched.inserted,
        cost,
        steps,
        has_queued,
    })
}

/// Runs all steps.
async fn steps(unit: &mut Unit<'_>, write: &Write) -> Result<Touched> {
    read_only::check(unit.catalog, write)?;
    let touched = base::apply(unit, write).await?;
    unit.keep_returned(write.collection(), &touched.positions);
    unit.keep_returned(write.collection(), &touched.returned);
    unit.end_step(|| write.step());
    delete_rules::apply(unit).await?;
    unit.end_step(|| "delete rules".to_owned());
    let mut unread = inverse::apply(unit, write.collection(), &touched.positions).await?;
    unit.end_step(|| "inverse references".to_owned());
    derived::refresh(unit).await?;
    unread.update(unit).await?;
    validation::check(unit, write, &touched)?;
    if let Write::Update {
        write,
        check_inserted,
        ..
    } = write
        && touched.inserted
    {
        for &at in &touched.positions {
            if let Some(inserted) = unit.document(&write.collection, at) {
                check_inserted(inserted)?;
            }
        }
    }
    unit.finish().await?;
    let mut unmatched = unit.take_unmatched();
    unread.update_unmatched(unit, &mut unmatched).await?;
    derived::refresh_parents(unit, unmatched).await?;
    unit.finish().await?;
    unit.end_step(|| "batch of writes".to_owned());
    // A repair leaves references that dangled before.
    if !unit.repairs {
        references::check(unit, write.is_sent_whole()).await?;
    }
    unit.end_step(|| "added references".to_owned());
    check_returned(unit, write, &touched).await?;
    Ok(touched)
}

/// Passes the documents that a write returns to its check: as they are stored, with the cold parts that the caller has sent.
async fn check_returned(unit: &mut Unit<'_>, write: &Write, touched: &Touched) -> Result<()> {
    let collection = write.collection();
    let images = unit.images(collection);
    let after = |positions: &[usize]| -> Vec<Doc> {
        let images = positions.iter().map(|&at| images.at(at));
        images.filter_map(|image| image.now().cloned()).collect()
    };
    let (documents, sent, check_returned) = match write {
        Write::Insert {
            documents,
            check_returned,
            ..
        }
        | Write::Replace {
            documents,
            check_returned,
            ..
        } => (after(&touched.positions), &documents[..], check_returned),
        Write::Modify {
            to, check_returned, ..
        } => (
            after(&touched.returned),
            slice::from_ref(to),
            check_returned,
        ),
        Write::UpsertBy {
            document, check, ..
        } => (after(&touched.returned), slice::from_ref(document), check),
        Write::Update {
            returning: Some(returning),
            ..
        }
        | Write::Delete {
            returning: Some(returning),
            ..
        } => {
            let documents = match returning.before {
                false => after(&touched.returned),
                true => {
                    let images = touched.returned.iter().map(|&at| images.at(at));
                    images.filter_map(|image| image.before().cloned()).collect()
                }
            };
            (documents, &[][..], &returning.check)
        }
        Write::Update { .. } | Write::Delete { .. } | Write::Repair { .. } => {
            return Ok(());
        }
    };
    let documents = match sent {
        [] => documents,
        sent => cold::whole_documents(unit, collection, sent, documents).await?,
    };
    let read =
        documents.iter().map(
            |document| match as_read(unit.catalog, collection, document)? {
                Cow::Borrowed(_) => Ok(document.clone()),
                Cow::Owned(read) => Ok(Doc::new(read)),
            },
        );
    check_returned.run(&read.collect::<Result<Vec<Doc>>>()?)
}

impl Write {
    /// The collection that the user wrote to.
    pub(crate) fn collection(&self) -> &str {
        match self {
            Write::Insert { collection, .. }
            | Write::Replace { collection, .. }
            | Write::UpsertBy { collection, .. }
            | Write::Modify { collection, .. }
            | Write::Repair { collection, .. } => collection,
            Write::Update { write, .. } => &write.collection,
            Write::Delete { write, .. } => &write.collection,
        }
    }

    /// Whether the caller sends whole documents.
    fn is_sent_whole(&self) -> bool {
        matches!(
            self,
            Write::Insert { .. }
                | Write::Replace { .. }
                | Write::UpsertBy { .. }
                | Write::Modify { .. }
        )
    }

    /// Whether there is nothing to write.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Write::Insert { documents, .. } | Write::Replace { documents, .. } => {
                documents.is_empty()
            }
            _ => false,
        }
    }

    /// The number of documents that it names, or 1.
    pub(crate) fn documents(&self) -> usize {
        match self {
            Write::Insert { documents, .. } | Write::Replace { documents, .. } => documents.len(),
            Write::Repair { ids, .. } => ids.len(),
            _ => 1,
        }
    }

    /// The filter of the documents that the user wrote to, if they are not named.
    pub(crate) fn filter(&self) -> Option<&Filter> {
        match self {
            Write::Update { write, .. } => Some(&write.filter),
            Write::Delete { write, .. } => Some(&write.filter),
            Write::UpsertBy { key, .. } => Some(key),
            Write::Insert { .. }
            | Write::Replace { .. }
            | Write::Modify { .. }
            | Write::Repair { .. } => None,
        }
    }

    /// The name of its first step.
    fn step(&self) -> String {
        format!("{} in `{}`", self.name(), self.collection())
    }

    /// The operation, for traces.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Write::Insert { .. } => "insert",
            Write::Update { .. } => "update",
            Write::Replace { .. } => "replace",
            Write::UpsertBy { .. } => "upsert",
            Write::Modify { .. } => "modify",
            Write::Delete { .. } => "delete",
            Write::Repair { .. } => "repair",
        }
    }
}
