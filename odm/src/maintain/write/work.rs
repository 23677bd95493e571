//! A write as work of the pipeline.

use std::{borrow::Cow, slice};

use odm_store::{Durability, Result, Store, mutants::mutant};

use super::{OnConflict, Write, WriteChange, WriteOutcome};
use crate::{
    catalog::Catalog,
    maintain::{
        base::{self, WriteProgress},
        cold,
        pending::as_read,
        pipeline::Work,
        plan::PlanStep,
        policy::Policy,
        read_only,
        remote::single,
        rewrites::Told,
        rights::Rights,
        unit::{Digest, Doc, Totals, Unit, id},
        validation::{self, LeftBy},
    },
};

impl Work for Write {
    type Progress = WriteProgress;
    type Outcome = WriteOutcome;

    fn policy(&self) -> Policy {
        match self {
            Write::Insert { .. }
            | Write::Replace { .. }
            | Write::UpsertBy { .. }
            | Write::Modify { .. }
            | Write::Update {
                change: WriteChange::Replace(_) | WriteChange::Pipeline(_),
                ..
            } => Policy::DOCUMENTS,
            Write::Update { .. } | Write::Delete { .. } => Policy::CHANGE,
            Write::Repair { .. } => Policy::REPAIR,
        }
    }

    fn rights(&self) -> Rights {
        match self {
            Write::Insert { rights, .. }
            | Write::Update { rights, .. }
            | Write::Delete { rights, .. } => rights.clone(),
            Write::Replace { .. }
            | Write::UpsertBy { .. }
            | Write::Modify { .. }
            | Write::Repair { .. } => None,
        }
    }

    fn bypasses_rule(&self) -> bool {
        match self {
            Write::Insert { bypasses_rule, .. } | Write::Update { bypasses_rule, .. } => {
                *bypasses_rule
            }
            Write::Replace { .. }
            | Write::UpsertBy { .. }
            | Write::Modify { .. }
            | Write::Delete { .. }
            | Write::Repair { .. } => false,
        }
    }

    fn documents(&self) -> u64 {
        match self {
            Write::Insert { documents, .. } | Write::Replace { documents, .. } => {
                documents.len() as u64
            }
            Write::UpsertBy { .. } | Write::Modify { .. } => 1,
            Write::Update { .. } | Write::Delete { .. } | Write::Repair { .. } => 0,
        }
    }

    fn step(&self) -> String {
        format!("{} in `{}`", self.name(), self.collection())
    }

    fn check(&self, catalog: &Catalog) -> Result<()> {
        read_only::check(catalog, self)
    }

    async fn change(&self, unit: &mut Unit<'_>, progress: &mut WriteProgress) -> Result<bool> {
        let has_more = base::apply(unit, self, progress).await?;
        if let Write::Update { collection, .. } = self
            && progress.summary.inserted
        {
            let inserted = progress.summary.positions.first();
            let inserted = inserted.and_then(|&at| unit.document(collection, at));
            progress.inserted_id = inserted.map(|document| id(document).into());
        }
        if !self.is_paged() {
            let summary = &progress.summary;
            unit.keep_returned(self.collection(), &summary.positions);
            unit.keep_returned(self.collection(), &summary.returned);
        }
        Ok(has_more)
    }

    fn is_paged(&self) -> bool {
        matches!(
            self,
            Write::Delete {
                returning: None,
                ..
            }
        )
    }

    fn changed<'p>(&'p self, progress: &'p WriteProgress) -> Vec<(&'p str, &'p [usize])> {
        vec![(self.collection(), &progress.summary.positions)]
    }

    fn validate(&self, unit: &Unit<'_>, progress: &WriteProgress) -> Result<()> {
        let left_by = match self {
            Write::Update { is_typed, .. }
            | Write::UpsertBy {
                on_conflict: OnConflict::Update { is_typed, .. },
                ..
            } => LeftBy::update(*is_typed),
            Write::Insert { .. }
            | Write::Replace { .. }
            | Write::UpsertBy { .. }
            | Write::Modify { .. } => LeftBy::Sent,
            Write::Delete { .. } | Write::Repair { .. } => return Ok(()),
        };
        let is_left = match self {
            Write::Replace { upsert: true, .. } => mutant("validation of an upsert"),
            _ => mutant("validation"),
        };
        let (collection, summary) = (self.collection(), &progress.summary);
        if !is_left {
            validation::check(unit, collection, &summary.positions, left_by)?;
        }
        if let Write::Update { check_inserted, .. } = self
            && summary.inserted
        {
            for &at in &summary.positions {
                if let Some(inserted) = unit.document(collection, at) {
                    check_inserted(inserted)?;
                }
            }
        }
        Ok(())
    }

    /// Passes the documents as they are stored, with the cold parts that the caller has sent.
    async fn check_returned(
        &self,
        unit: &mut Unit<'_>,
        progress: &mut WriteProgress,
    ) -> Result<()> {
        let (collection, summary) = (self.collection(), &progress.summary);
        let images = unit.images(collection);
        let after = |positions: &[usize]| -> Vec<Doc> {
            let images = positions.iter().map(|&at| images.at(at));
            images.filter_map(|image| image.now().cloned()).collect()
        };
        let (documents, sent, check_returned) = match self {
            Write::Insert {
                documents,
                check_returned,
                ..
            }
            | Write::Replace {
                documents,
                check_returned,
                ..
            } => (after(&summary.positions), &documents[..], check_returned),
            Write::Modify {
                to, check_returned, ..
            } => (
                after(&summary.returned),
                slice::from_ref(to),
                check_returned,
            ),
            Write::UpsertBy {
                document,
                check_returned,
                ..
            } => (
                after(&summary.returned),
                slice::from_ref(document),
                check_returned,
            ),
            Write::Update {
                returning: Some(returning),
                ..
            }
            | Write::Delete {
                returning: Some(returning),
                ..
            } => {
                let documents = if returning.before {
                    let images = summary.returned.iter().map(|&at| images.at(at));
                    images.filter_map(|image| image.before().cloned()).collect()
                } else {
                    after(&summary.returned)
                };
                (documents, &[][..], &returning.check)
            }
            Write::Update { .. } | Write::Delete { .. } | Write::Repair { .. } => return Ok(()),
        };
        let documents = match sent {
            [] => documents,
            sent => cold::whole_documents(unit, collection, sent, documents).await?,
        };
        let read = documents.iter().map(|document| {
            let read = as_read(unit.catalog, collection, document)?;
            Ok(match read {
                Cow::Borrowed(_) => document.clone(),
                Cow::Owned(read) => Doc::new(read),
            })
        });
        let read = read.collect::<Result<Vec<Doc>>>()?;
        progress.returned = read.iter().map(|document| Digest::of(document)).collect();
        check_returned.run(&read)
    }

    fn outcome(progress: WriteProgress, totals: Totals) -> WriteOutcome {
        let WriteProgress {
            summary,
            returned,
            inserted_id,
            ..
        } = progress;
        WriteOutcome {
            matched: summary.matched,
            modified: summary.modified,
            inserted: summary.inserted,
            inserted_id,
            returned,
            cost: totals.cost,
            steps: totals.steps,
            has_queued: totals.has_queued,
        }
    }

    fn has_queued(outcome: &WriteOutcome) -> bool {
        outcome.has_queued
    }

    fn told(outcome: &WriteOutcome) -> Option<Told> {
        Some(outcome.told())
    }

    async fn write_single(
        &self,
        store: &dyn Store,
        catalog: &Catalog,
        durability: Durability,
        with_steps: bool,
    ) -> Result<Option<WriteOutcome>> {
        let Some(write) = single::write_of(catalog, self) else {
            return Ok(None);
        };
        let updated = store.write_single(&write, durability).await?;
        Ok(updated.map(|updated| {
            let step = || PlanStep {
                name: self.step(),
                cost: updated.cost,
            };
            WriteOutcome {
                matched: updated.matched,
                modified: updated.modified,
                inserted: updated.inserted,
                // An upsert is no single write.
                inserted_id: None,
                cost: updated.cost,
                steps: with_steps.then(step).into_iter().collect(),
                has_queued: false,
                returned: Vec::new(),
            }
        }))
    }
}
