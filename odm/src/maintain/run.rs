//! Writes as a unit of work of a store.

use std::{
    future::Future,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use bson::RawBson;
use odm_store::{
    Durability, Error, ErrorKind, OtherEpoch, Reader, ReaderExt, Result, Store, Transaction,
    UnitOfWork,
};

use super::{PlanStep, Predecessors, Write, WriteOutcome, alone, apply, apply_part};
use crate::catalog::{Catalog, follow, has_followed, is_outdated};

/// What one unit writes.
pub(crate) trait Work: Send + Sync + 'static {
    /// What becomes of it.
    type Outcome: Send;

    /// Whether something is left to the worker of the outbox.
    fn has_queued(outcome: &Self::Outcome) -> bool;

    /// Writes it in a transaction, as [`apply`] does.
    fn apply(
        &self,
        catalog: &Catalog,
        transaction: &mut dyn Transaction,
        with_steps: bool,
    ) -> impl Future<Output = Result<Self::Outcome>> + Send;

    /// Writes it without a transaction, or does nothing and returns `None`.
    fn write_alone(
        &self,
        _store: &dyn Store,
        _catalog: &Catalog,
        _durability: Durability,
        _with_steps: bool,
    ) -> impl Future<Output = Result<Option<Self::Outcome>>> + Send {
        async { Ok(None) }
    }
}

impl Work for Write {
    type Outcome = WriteOutcome;

    fn has_queued(outcome: &WriteOutcome) -> bool {
        outcome.has_queued
    }

    async fn apply(
        &self,
        catalog: &Catalog,
        transaction: &mut dyn Transaction,
        with_steps: bool,
    ) -> Result<WriteOutcome> {
        apply(catalog, transaction, self, with_steps).await
    }

    async fn write_alone(
        &self,
        store: &dyn Store,
        catalog: &Catalog,
        durability: Durability,
        with_steps: bool,
    ) -> Result<Option<WriteOutcome>> {
        let Some(write) = alone::write_of(catalog, self) else {
            return Ok(None);
        };
        let updated = store.write_alone(&write, durability).await?;
        Ok(updated.map(|updated| WriteOutcome {
            matched: updated.matched,
            modified: updated.modified,
            inserted: updated.inserted,
            cost: updated.cost,
            steps: match with_steps {
                true => vec![PlanStep {
                    name: self.step(),
                    cost: updated.cost,
                }],
                false => Vec::new(),
            },
            ..WriteOutcome::default()
        }))
    }
}

/// A write, and the document that it must match if it names one.
#[derive(Debug)]
pub(crate) struct NamedWrite {
    pub(crate) write: Write,
    pub(crate) named: Option<NamedDocument>,
}

/// Several writes, each with all that follows from it before the next.
impl Work for Vec<NamedWrite> {
    type Outcome = Vec<WriteOutcome>;

    fn has_queued(outcomes: &Vec<WriteOutcome>) -> bool {
        outcomes.iter().any(|outcome| outcome.has_queued)
    }

    async fn apply(
        &self,
        catalog: &Catalog,
        transaction: &mut dyn Transaction,
        with_steps: bool,
    ) -> Result<Vec<WriteOutcome>> {
        let mut outcomes = Vec::with_capacity(self.len());
        let mut before = Predecessors::default();
        for (at, NamedWrite { write, named }) in self.iter().enumerate() {
            let place = (&mut before, at + 1 == self.len());
            let outcome = match self.len() {
                1 => apply(catalog, transaction, write, with_steps).await?,
                _ => apply_part(catalog, transaction, write, with_steps, place).await?,
            };
            match named {
                Some(named) if outcome.matched == 0 => {
                    if named.has_version && before.held_back.has(named.collection, &named.id) {
                        return Err(Error::stale(named.collection, &named.id));
                    }
                    return Err(named.unmatched(&*transaction).await?);
                }
                _ => outcomes.push(outcome),
            }
        }
        Ok(outcomes)
    }
}

/// The document that a write names.
#[derive(Debug)]
pub(crate) struct NamedDocument {
    pub(crate) collection: &'static str,
    pub(crate) id: RawBson,
    /// Whether the write is for a version of it.
    pub(crate) has_version: bool,
}

impl NamedDocument {
    /// The error of a write that has not matched it.
    pub(crate) async fn unmatched(&self, reader: &dyn Reader) -> Result<Error> {
        if self.has_version {
            let (found, _) = reader.get_one(self.collection, &self.id).await?;
            if found.is_some() {
                return Ok(Error::stale(self.collection, &self.id));
            }
        }
        Ok(Error::not_found(self.collection, &[&self.id]))
    }
}

/// Runs writes as a unit of their own: all that follows from them is stored with them, or nothing is.
/// Returns `None`, and does nothing, if the catalog is not the one that is in force.
pub(crate) async fn run<W: Work>(
    store: &dyn Store,
    catalog: &Arc<Catalog>,
    work: &Arc<W>,
    durability: Durability,
    with_steps: bool,
) -> Result<Option<W::Outcome>> {
    if store.capabilities().writes_alone.is_some() {
        match work
            .write_alone(store, catalog, durability, with_steps)
            .await
        {
            Err(error) if error.is_of_other_epoch() => return Ok(None),
            Ok(None) => {}
            written => return written,
        }
    }
    let unit = Arc::new(WriteUnit {
        catalog: catalog.clone(),
        work: work.clone(),
        with_steps,
        ran: Mutex::new(None),
    });
    match store.run(unit.clone(), durability).await {
        Err(error) if is_outdated(catalog, store, &error).await => return Ok(None),
        result => result?,
    }
    let ran = unit
        .ran
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    ran.ok_or_else(|| Error::new(ErrorKind::Closed, "the store did not run the unit"))
}

struct WriteUnit<W: Work> {
    catalog: Arc<Catalog>,
    work: Arc<W>,
    with_steps: bool,
    /// The result of the last run: the store may run the unit more than once.
    ran: Mutex<Option<Option<W::Outcome>>>,
}

#[async_trait]
impl<W: Work> UnitOfWork for WriteUnit<W> {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        let mut outcome = None;
        if follow(&self.catalog, transaction).await? {
            let applied = self.work.apply(&self.catalog, transaction, self.with_steps);
            let applied = applied.await?;
            if !has_followed(&self.catalog, transaction).await? {
                return Err(OtherEpoch.into());
            }
            outcome = Some(applied);
        }
        *self.ran.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        Ok(())
    }
}
