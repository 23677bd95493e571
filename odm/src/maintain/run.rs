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

use super::{
    pipeline::{self, Predecessors, Work},
    rewrites::Told,
    write::{Write, WriteOutcome},
};
use crate::catalog::{Catalog, follow, has_followed, is_outdated};

/// A job that is committed as one unit: a [`Work`], or several writes.
pub(crate) trait Job: Send + Sync + 'static {
    /// The result for the caller.
    type Outcome: Send;

    /// The number of documents that the caller sends.
    fn documents(&self) -> u64;

    /// Whether refreshes are left to the worker of the outbox.
    fn has_queued(outcome: &Self::Outcome) -> bool;

    /// Returns the part of the outcome that the caller sees, for each write; `None` for a job that must not be done again.
    fn told(outcome: &Self::Outcome) -> Option<Vec<Told>>;

    /// Carries the job out in a transaction, as [`pipeline::apply`] does.
    fn apply(
        &self,
        catalog: &Catalog,
        transaction: &mut dyn Transaction,
        with_steps: bool,
    ) -> impl Future<Output = Result<Self::Outcome>> + Send;

    /// Carries the job out without a transaction, or does nothing and returns `None`.
    fn write_single(
        &self,
        store: &dyn Store,
        catalog: &Catalog,
        durability: Durability,
        with_steps: bool,
    ) -> impl Future<Output = Result<Option<Self::Outcome>>> + Send;
}

impl<W: Work> Job for W {
    type Outcome = W::Outcome;

    fn documents(&self) -> u64 {
        Work::documents(self)
    }

    fn has_queued(outcome: &W::Outcome) -> bool {
        W::has_queued(outcome)
    }

    fn told(outcome: &W::Outcome) -> Option<Vec<Told>> {
        W::told(outcome).map(|told| vec![told])
    }

    async fn apply(
        &self,
        catalog: &Catalog,
        transaction: &mut dyn Transaction,
        with_steps: bool,
    ) -> Result<W::Outcome> {
        pipeline::apply(catalog, transaction, self, with_steps).await
    }

    async fn write_single(
        &self,
        store: &dyn Store,
        catalog: &Catalog,
        durability: Durability,
        with_steps: bool,
    ) -> Result<Option<W::Outcome>> {
        Work::write_single(self, store, catalog, durability, with_steps).await
    }
}

/// A write, and the document that it must match if it names one.
#[derive(Debug)]
pub(crate) struct NamedWrite {
    pub(crate) write: Write,
    pub(crate) named: Option<NamedDocument>,
}

/// Several writes; all consequences of a write come before the next write.
impl Job for Vec<NamedWrite> {
    type Outcome = Vec<WriteOutcome>;

    fn documents(&self) -> u64 {
        let writes = self.iter().map(|named| Work::documents(&named.write));
        writes.sum()
    }

    fn has_queued(outcomes: &Vec<WriteOutcome>) -> bool {
        outcomes.iter().any(|outcome| outcome.has_queued)
    }

    fn told(outcomes: &Vec<WriteOutcome>) -> Option<Vec<Told>> {
        let told = outcomes.iter().map(|outcome| outcome.told());
        Some(told.collect())
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
                1 => pipeline::apply(catalog, transaction, write, with_steps).await?,
                _ => pipeline::apply_part(catalog, transaction, write, with_steps, place).await?,
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

    async fn write_single(
        &self,
        _: &dyn Store,
        _: &Catalog,
        _: Durability,
        _: bool,
    ) -> Result<Option<Vec<WriteOutcome>>> {
        Ok(None)
    }
}

/// The document that a write names.
#[derive(Debug)]
pub(crate) struct NamedDocument {
    pub(crate) collection: &'static str,
    pub(crate) id: RawBson,
    /// Whether the write requires a version of the document.
    pub(crate) has_version: bool,
}

impl NamedDocument {
    /// The error of a write that has not matched the document.
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

/// Runs a job as a unit of its own: the job and all its consequences are stored, or nothing is. Returns `None`, and does nothing,
/// if the catalog is not in force.
pub(crate) async fn run<W: Job>(
    store: &dyn Store,
    catalog: &Arc<Catalog>,
    work: &Arc<W>,
    durability: Durability,
    with_steps: bool,
) -> Result<Option<W::Outcome>> {
    if store.capabilities().single_document_writes.is_some() {
        match work
            .write_single(store, catalog, durability, with_steps)
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

struct WriteUnit<W: Job> {
    catalog: Arc<Catalog>,
    work: Arc<W>,
    with_steps: bool,
    /// The result of the last run: the store may run the unit more than once.
    ran: Mutex<Option<Option<W::Outcome>>>,
}

#[async_trait]
impl<W: Job> UnitOfWork for WriteUnit<W> {
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

    fn documents(&self) -> u64 {
        self.work.documents()
    }
}
