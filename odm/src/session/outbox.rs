//! The worker's side of the outbox: it selects the records, and the number of documents of a unit.

use std::{mem, sync::Arc, time::Duration};

use futures_core::future::BoxFuture;
use odm_store::{Error, ErrorKind, Result, StoreSession, metrics, mutants::chunk};
use tokio::sync::{Mutex, Notify};

use super::{
    Session,
    lease::{self, Lease},
};
use crate::{
    backoff::Backoff,
    maintain::{
        DeferredRefreshes, RefreshError, Retry, Waiting, deferred_refreshes, has_records,
        has_waiting, newest_waiting, oldest_waiting,
    },
    model::DateTime,
    trace::Operation,
};

/// How many records a worker reads at once. Many may be about one document, which is refreshed once for them.
const RECORDS: u64 = 1_000;

/// How many documents a unit refreshes at most: on a store of this program alone, which brings any unit to an end, and in turns with other
/// programs, whose writes to one of the documents abort the unit. The next unit then has fewer documents, so that it can finish at any rate
/// of other writes.
const DOCUMENTS: usize = 500;
const DOCUMENTS_IN_TURNS: usize = 100;
const FIRST_DOCUMENTS_IN_TURNS: usize = 10;

/// How long `wait_for_refreshes` waits for another worker before it looks again.
const WAIT: Duration = Duration::from_millis(50);

/// How many documents a unit refreshes that locks them first, and how many such units follow a lost conflict: while such a unit runs,
/// writes to the sources of the documents lose conflicts to it.
const CONTENDED_DOCUMENTS: usize = 4;
const CONTENDED: u32 = 16;

/// How a unit takes its records. After a lost conflict some units have fewer documents, and lock them first; after another lost conflict
/// the next unit begins at another place.
struct BatchPacing {
    documents: usize,
    /// The records that were read and are left.
    records: Waiting,
    /// The [place](Waiting::next) of the first one.
    begin: f64,
    /// How many of the next units lock their documents first.
    contended: u32,
    backoff: Backoff,
}

/// The state of the outbox that the sessions of a database share.
#[derive(Debug)]
pub(crate) struct Outbox {
    /// Notified of new records.
    pub(super) wake: Notify,
    /// One unit at a time: others would wait for the same documents.
    working: Mutex<()>,
}

impl Outbox {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Outbox {
            wake: Notify::new(),
            working: Mutex::new(()),
        })
    }

    /// Waits for new records of this database, and no longer than an interval.
    pub(crate) async fn woken(&self, interval: Duration) {
        // A timeout is no error: other programs may have left records.
        drop(tokio::time::timeout(interval, self.wake.notified()).await);
    }
}

/// Whether an error of a refresh recurs until the documents change.
fn is_permanent(error: &Error) -> bool {
    let is_of_documents = matches!(
        error.kind(),
        ErrorKind::DuplicateKey
            | ErrorKind::Limit
            | ErrorKind::Invalid
            | ErrorKind::InvalidUpdate
            | ErrorKind::FailedFilter
            | ErrorKind::Uncomputable
            | ErrorKind::Encode
            | ErrorKind::Decode
            | ErrorKind::Restricted
            | ErrorKind::DanglingReference
    );
    is_of_documents && !error.is_retryable()
}

impl Session {
    /// The state of the outbox that the sessions of the database share.
    pub(crate) fn outbox(&self) -> &Arc<Outbox> {
        &self.outbox
    }

    /// The refreshes that are left to the worker.
    pub(crate) async fn deferred_refreshes(&self) -> Result<DeferredRefreshes> {
        let source = self.source().await?;
        deferred_refreshes(source.reader()).await
    }

    /// Whether there may be work for a worker: a field is deferred, or was until now.
    pub(crate) async fn needs_outbox(&self) -> Result<bool> {
        if self.catalog().has_deferred() {
            return Ok(true);
        }
        let source = self.source().await?;
        has_records(source.reader()).await
    }

    /// Works off all records, until there are no more. Returns whether it did: not if another worker does.
    pub(crate) async fn work_off_outbox(&self) -> Result<bool> {
        self.measure_outbox().await?;
        let has_worked = self.work_off(None).await?;
        self.measure_outbox().await?;
        Ok(has_worked)
    }

    /// Whether the workers of several programs take turns on the store.
    fn has_turns(&self) -> bool {
        self.store.capabilities().several_programs
    }

    /// Works off the records that are not newer than a time, or all of them, unless another worker does.
    fn work_off(&self, until: Option<DateTime>) -> BoxFuture<'_, Result<bool>> {
        Box::pin(async move {
            let is_left = async || {
                let source = self.source().await?;
                let Some(until) = until else {
                    return has_waiting(source.reader()).await;
                };
                let oldest = oldest_waiting(source.reader()).await?;
                Ok(oldest.is_some_and(|oldest| oldest <= until))
            };
            // The workers of all programs except one end here.
            if self.has_turns() && lease::is_held(&*self.store).await? {
                return Ok(until.is_some() && !is_left().await?);
            }
            if !is_left().await? {
                return Ok(true);
            }
            let work = async |of_store: Option<&dyn StoreSession>| {
                let mut pacing = self.first_pacing();
                while self.work_off_next(&mut pacing, of_store).await? {
                    if until.is_some() && !is_left().await? {
                        break;
                    }
                }
                Ok(())
            };
            if !self.has_turns() {
                return work(None).await.map(|()| true);
            }
            let Some((lease, of_store)) = Lease::take(self).await? else {
                return Ok(false);
            };
            Ok(lease.hold(work(of_store.as_deref())).await?.is_some())
        })
    }

    /// Works off the records of all writes that were made before the call, or waits for the worker that does.
    pub(crate) async fn wait_for_refreshes(&self) -> Result<()> {
        self.refuse_in_snapshot(|| "wait_for_refreshes".to_owned())?;
        if self.is_bound() {
            return Err(Error::new(
                ErrorKind::InvalidQuery,
                "wait_for_refreshes inside a transaction, which would do refreshes of its own writes: call it after its end",
            ));
        }
        self.refuse_inside_transaction()?;
        let newest = newest_waiting(self.source().await?.reader()).await?;
        let Some(newest) = newest else { return Ok(()) };
        // A record by a program with another clock may be from the future.
        let until = newest.max(DateTime::now());
        while !self.work_off(Some(until)).await? {
            tokio::time::sleep(WAIT).await;
        }
        Ok(())
    }

    /// Retries the failed refreshes, and returns their number.
    pub(crate) fn retry_failed_refreshes(&self) -> BoxFuture<'_, Result<u64>> {
        Box::pin(async move {
            self.refuse_in_snapshot(|| "retry_failed_refreshes".to_owned())?;
            let retry = Arc::new(Retry { limit: RECORDS });
            let mut retried = 0;
            loop {
                let number = self.work(&retry, |_| false).await? as u64;
                retried += number;
                if number < RECORDS {
                    return Ok(retried);
                }
            }
        })
    }

    /// The pacing of the first unit. Later ones have more documents, as long as there are no conflicts.
    fn first_pacing(&self) -> BatchPacing {
        BatchPacing {
            documents: match self.has_turns() {
                true => FIRST_DOCUMENTS_IN_TURNS,
                false => chunk(DOCUMENTS),
            },
            records: Waiting::default(),
            begin: 0.0,
            contended: 0,
            backoff: Backoff::default(),
        }
    }

    fn most_documents(&self) -> usize {
        match self.has_turns() {
            true => DOCUMENTS_IN_TURNS,
            false => chunk(DOCUMENTS),
        }
    }

    /// How many documents a unit has after a successful one of so many. In turns, a unit that loses a conflict costs more than several small
    /// ones.
    fn more_documents(&self, documents: usize) -> usize {
        let more = if self.has_turns() {
            documents + documents.div_ceil(4)
        } else {
            documents * 2
        };
        more.min(self.most_documents())
    }

    /// Works off the next records by one unit of at most so many documents, or of fewer while some cannot be refreshed.
    /// Returns whether there were any.
    fn work_off_next<'f>(
        &'f self,
        pacing: &'f mut BatchPacing,
        of_store: Option<&'f dyn StoreSession>,
    ) -> BoxFuture<'f, Result<bool>> {
        Box::pin(async move {
            let _working = self.outbox.working.lock().await;
            if pacing.records.is_empty() {
                let source = self.source().await?;
                pacing.records = Waiting::read(source.reader(), &self.catalog(), RECORDS).await?;
            }
            if pacing.records.is_empty() {
                return Ok(false);
            }
            let mut failed = None;
            loop {
                let locks_first = pacing.contended > 0;
                let mut batch = pacing
                    .records
                    .next(pacing.documents, pacing.begin, locks_first);
                batch.failed = failed.take();
                let batch = Arc::new(batch);
                let operation = Operation::begin("refresh", "").of(pacing.documents);
                let worked = match self.has_turns() {
                    true => self.work_once(&batch, of_store).await,
                    false => self.work_in_own_transaction(&batch).await,
                };
                let worked = operation.observe(worked);
                match worked {
                    Ok(worked) => {
                        tracing::debug!(
                            target: "odm",
                            database = self.database(),
                            documents = worked.documents,
                            done = worked.done,
                            failed = worked.failed,
                            "deferred refreshes: a unit is done"
                        );
                        metrics::outbox_batch(self.database());
                        self.record(operation, worked.cost);
                        pacing.records.forget(&batch.records, &worked.left);
                        let contended = pacing.contended.saturating_sub(1);
                        let most = match contended {
                            0 => self.most_documents(),
                            _ => CONTENDED_DOCUMENTS,
                        };
                        *pacing = BatchPacing {
                            documents: self.more_documents(pacing.documents).min(most),
                            contended,
                            records: mem::take(&mut pacing.records),
                            ..self.first_pacing()
                        };
                        return Ok(true);
                    }
                    Err(error) if is_permanent(&error) => match pacing.documents {
                        1 => {
                            tracing::warn!(
                                target: "odm",
                                database = self.database(),
                                %error,
                                "deferred refreshes: a refresh has failed, and is not tried again by itself"
                            );
                            failed = Some(RefreshError::new(&error));
                        }
                        _ => pacing.documents /= 2,
                    },
                    Err(error) if error.is_conflict() => match pacing.documents {
                        // The winner may keep the document for long, as a process that was killed in a transaction.
                        1 if locks_first => {
                            pacing.begin = fastrand::f64();
                            pacing.backoff.wait().await;
                            return Ok(true);
                        }
                        documents => {
                            pacing.documents = (documents / 4).clamp(1, CONTENDED_DOCUMENTS);
                            pacing.contended = CONTENDED;
                        }
                    },
                    Err(error) => return Err(error),
                }
            }
        })
    }

    /// Reports the remaining refreshes to the metrics.
    async fn measure_outbox(&self) -> Result<()> {
        if metrics::IS_ON {
            let refreshes = self.deferred_refreshes().await?;
            let now = DateTime::now().timestamp_millis();
            let age = refreshes
                .oldest
                .map_or(0, |oldest| now.saturating_sub(oldest.timestamp_millis()));
            metrics::outbox(
                self.database(),
                refreshes.waiting,
                age,
                refreshes.failed.len(),
            );
        }
        Ok(())
    }
}
