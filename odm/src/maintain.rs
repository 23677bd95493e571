//! The one engine through which every write goes.
//!
//! A write, typed or raw, from a repository or a transaction, arrives here as BSON. [`apply`]
//! carries it out in the order that the relations need, by the catalog alone. What is derived has
//! its step there, and its file beside this one.

mod added_references;
mod audit;
mod base;
mod copies;
mod counts;
mod delete_rules;
mod kept_fields;
mod links;
mod places;
mod plan;
mod run;
mod splits;
mod subsets;
mod unit;

use bson::{RawBson, RawDocument, RawDocumentBuf};

pub(crate) use audit::check;
pub use audit::{Finding, Problem};
pub(crate) use plan::plan;
pub use plan::{PlannedChanges, Step, WritePlan};
pub(crate) use run::run;
pub(crate) use subsets::{children_in_order, shown};
use unit::{Changes, Touched, Unit};

use crate::{
    catalog::Catalog,
    error::Result,
    store::{Cost, DeleteWrite, Transaction, UpdateWrite},
};

/// A write as a user asks for it.
#[derive(Debug, Clone)]
pub(crate) enum Write {
    /// New documents.
    Insert {
        collection: String,
        documents: Vec<RawDocumentBuf>,
    },
    /// A change of the documents that match.
    Update {
        write: UpdateWrite,
        /// What a document that it inserts must pass, with all that is derived in it.
        whole: fn(&RawDocument) -> Result<()>,
    },
    /// Another document in the place of one, or a new one where `upsert` allows it.
    Replace {
        collection: String,
        id: RawBson,
        document: RawDocumentBuf,
        upsert: bool,
    },
    /// The difference between a document as it was read and as the caller left it, if it is still
    /// as it was read.
    Modify {
        collection: String,
        id: RawBson,
        read: RawDocumentBuf,
        from: RawDocumentBuf,
        to: RawDocumentBuf,
    },
    /// A removal of the documents that match.
    Delete(DeleteWrite),
    /// What is derived in these documents becomes what its definition says.
    Repair {
        collection: String,
        ids: Vec<RawBson>,
    },
}

/// What a write did.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// How many documents matched.
    pub(crate) matched: u64,
    /// What became of each document that is different now.
    pub(crate) effects: Vec<Effect>,
    /// What the whole unit touched.
    pub(crate) cost: Cost,
    /// The same by its steps.
    pub(crate) steps: Vec<Step>,
}

/// One document before and after a write: none before an insert, none after a delete.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Effect {
    pub(crate) before: Option<RawDocumentBuf>,
    pub(crate) after: Option<RawDocumentBuf>,
}

/// Applies a write with all that follows from it, in this order:
///
/// 1. the user's own changes, the *base facts*;
/// 2. to a fixed point, what base facts follow from them: delete rules, the other sides of pairs, cold
///    halves;
/// 3. what is derived, each once for every place that is dirty: copies, in the order in which they
///    follow each other, then counts, then subsets;
/// 4. the checks: every reference that was added leads somewhere.
///
/// So a unit that deletes a document and all that refers to it is no error, and what is derived is
/// brought up once, however many of its sources changed.
///
/// After an error the transaction holds a part of the unit, and must not be committed.
pub(crate) async fn apply(
    catalog: &Catalog,
    transaction: &mut dyn Transaction,
    write: &Write,
) -> Result<Outcome> {
    let before = transaction.cost();
    let mut unit = Unit::new(catalog, transaction);
    let touched = steps(&mut unit, write).await?;
    let cost = unit.transaction.cost() - before;
    let mut effects = unit.changes.take(write.collection(), &touched.places);
    splits::give_back(catalog, write, &mut effects)?;
    Ok(Outcome {
        matched: touched.matched,
        effects,
        cost,
        steps: unit.steps,
    })
}

async fn steps(unit: &mut Unit<'_>, write: &Write) -> Result<Touched> {
    kept_fields::check(unit.catalog, write)?;
    let start = unit.transaction.cost();
    let touched = base::apply(unit, write).await?;
    unit.step(start, || {
        format!("{} in `{}`", write.name(), write.collection())
    });
    let start = unit.transaction.cost();
    delete_rules::apply(unit).await?;
    unit.step(start, || "rules for deletes".to_owned());
    let start = unit.transaction.cost();
    links::apply(unit, write.collection(), &touched).await?;
    unit.step(start, || "other sides of pairs".to_owned());
    copies::apply(unit).await?;
    counts::apply(unit).await?;
    subsets::apply(unit).await?;
    if let Write::Update { write, whole } = write {
        for &place in &touched.places {
            let effect = &unit.changes.of(&write.collection)[place];
            if let (None, Some(inserted)) = (&effect.before, &effect.after) {
                whole(inserted)?;
            }
        }
    }
    let start = unit.transaction.cost();
    // What is mended was there before, with what was wrong with it.
    if !unit.mends {
        added_references::check(unit).await?;
    }
    unit.step(start, || "references that are added".to_owned());
    Ok(touched)
}

impl Effect {
    /// The `_id` of a document that was removed.
    fn deleted(&self) -> Option<RawBson> {
        match self {
            Effect {
                before: Some(before),
                after: None,
            } => Some(unit::id(before).into()),
            _ => None,
        }
    }
}

impl Write {
    /// The collection that the user wrote to.
    pub(crate) fn collection(&self) -> &str {
        match self {
            Write::Insert { collection, .. }
            | Write::Replace { collection, .. }
            | Write::Modify { collection, .. }
            | Write::Repair { collection, .. } => collection,
            Write::Update { write, .. } => &write.collection,
            Write::Delete(write) => &write.collection,
        }
    }

    /// The operation, for traces.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Write::Insert { .. } => "insert",
            Write::Update { .. } => "update",
            Write::Replace { .. } => "replace",
            Write::Modify { .. } => "modify",
            Write::Delete(_) => "delete",
            Write::Repair { .. } => "repair",
        }
    }
}
