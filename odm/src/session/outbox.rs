//! The worker's side of the outbox: which records it takes, and how many documents at once.

use std::{sync::Arc, time::Duration};

use bson::{RawBson, RawDocument};
use tokio::sync::{Mutex, Notify};

use super::Session;
use crate::{
    backoff::Backoff,
    error::{Error, ErrorKind, Result},
    maintain::{
        Batch, Claim, Claimed, FailedRefresh, Lag, Retry, has_records, lag, newest_waiting,
        next_records, oldest_waiting,
    },
    metrics,
    model::{DateTime, ObjectId},
    mql::path,
    mutants::chunk,
    store::ReaderExt,
    trace::Operation,
};

/// Among how many records a worker takes the next ones at most. Many may be about one document, which is refreshed once for them.
const RECORDS: u64 = 1_000;
/// Among how many at least.
const LEAST_RECORDS: u64 = 50;

/// How many documents a unit goes through at most: on a store with one writer, for which others wait meanwhile, and on
/// others, where it is lost if somebody else writes one of them. Then the next unit has fewer, so that it comes to its end
/// however much others write.
const DOCUMENTS: usize = 500;
const DOCUMENTS_SIDE_BY_SIDE: usize = 100;
const FIRST_DOCUMENTS_SIDE_BY_SIDE: usize = 10;

/// How long a claim lasts: some times as long as a unit, with which it ends unless the process of the worker is killed.
const CLAIM: Duration = Duration::from_secs(10);

/// How long `caught_up` waits for records that another worker has claimed before it looks again.
const WAIT: Duration = Duration::from_millis(50);

/// How a unit takes its records. One that loses a conflict is followed by one of fewer documents, and then by one that begins
/// somewhere else: whoever has won may keep a document for long, as a process that was killed in a transaction does.
struct Pace {
    documents: usize,
    /// [Among how many records](Claim::among): fewer after a claim of few of those that it has read.
    among: u64,
    /// The [first record](Claim::begin).
    begin: f64,
    backoff: Backoff,
}

impl Pace {
    async fn has_lost(&mut self) {
        self.documents = (self.documents / 4).max(1);
        self.begin = fastrand::f64();
        self.backoff.wait().await;
    }
}

/// What the sessions of a database share of the outbox.
#[derive(Debug)]
pub(crate) struct Outbox {
    /// The name by which the worker claims records.
    id: ObjectId,
    /// Told of new records.
    pub(super) wake: Notify,
    /// One unit at a time: others would wait for the same documents.
    working: Mutex<()>,
}

impl Outbox {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Outbox {
            id: ObjectId::new(),
            wake: Notify::new(),
            working: Mutex::new(()),
        })
    }

    /// Waits for new records of this database, and no longer than an interval.
    pub(crate) async fn woken(&self, interval: Duration) {
        // That time is over is no error: other programs may have left records.
        drop(tokio::time::timeout(interval, self.wake.notified()).await);
    }
}

/// Whether an error of a refresh comes again until the documents are different.
fn is_permanent(error: &Error) -> bool {
    let is_of_documents = matches!(
        error.kind(),
        ErrorKind::DuplicateKey
            | ErrorKind::Limit
            | ErrorKind::Invalid
            | ErrorKind::InvalidUpdate
            | ErrorKind::FailedFilter
            | ErrorKind::Encode
            | ErrorKind::Decode
            | ErrorKind::Restricted
            | ErrorKind::DanglingReference
    );
    is_of_documents && !error.is_retryable()
}

impl Session {
    /// What the sessions of the database share of the outbox.
    pub(crate) fn outbox(&self) -> &Arc<Outbox> {
        &self.outbox
    }

    /// What is left to the worker.
    pub(crate) async fn lag(&self) -> Result<Lag> {
        let source = self.source().await?;
        lag(source.reader()).await
    }

    /// Whether there may be something to do for a worker: a field is deferred, or was until now.
    pub(crate) async fn needs_outbox(&self) -> Result<bool> {
        if self.catalog().has_deferred() {
            return Ok(true);
        }
        let source = self.source().await?;
        has_records(source.reader()).await
    }

    /// Works off all records, until there are no more that nobody else has claimed.
    pub(crate) async fn work_off_outbox(&self) -> Result<()> {
        self.measure_outbox().await?;
        let mut pace = self.first_pace();
        while self.work_off_next(&mut pace).await? {}
        self.measure_outbox().await
    }

    /// Works off the records of all writes that were made before the call, waiting for those that others have claimed.
    pub(crate) async fn catch_up(&self) -> Result<()> {
        self.refuse_in_snapshot(|| "caught_up".to_owned())?;
        if self.is_bound() {
            return Err(Error::new(
                ErrorKind::InvalidQuery,
                "caught_up inside a transaction, in which records of it would be worked off: call it after its end",
            ));
        }
        self.refuse_inside_transaction()?;
        let newest = newest_waiting(self.source().await?.reader()).await?;
        let Some(newest) = newest else { return Ok(()) };
        // Of a program with another clock, a record may be from the future.
        let until = newest.max(DateTime::now());
        let mut pace = self.first_pace();
        loop {
            let oldest = oldest_waiting(self.source().await?.reader()).await?;
            if oldest.is_none_or(|oldest| oldest > until) {
                return Ok(());
            }
            if !self.work_off_next(&mut pace).await? {
                tokio::time::sleep(WAIT).await;
            }
        }
    }

    /// Has parked records worked off again, and returns how many.
    pub(crate) async fn retry_parked(&self) -> Result<u64> {
        self.refuse_in_snapshot(|| "retry_parked".to_owned())?;
        let retry = Arc::new(Retry { limit: RECORDS });
        let mut retried = 0;
        loop {
            let number = self.work(&retry, |_| false).await? as u64;
            retried += number;
            if number < RECORDS {
                return Ok(retried);
            }
        }
    }

    /// That of the first unit. The others have more documents, as long as nothing is in their way.
    fn first_pace(&self) -> Pace {
        Pace {
            documents: match self.is_side_by_side() {
                true => FIRST_DOCUMENTS_SIDE_BY_SIDE,
                false => chunk(DOCUMENTS),
            },
            among: RECORDS,
            begin: 0.0,
            backoff: Backoff::default(),
        }
    }

    fn most_documents(&self) -> usize {
        match self.is_side_by_side() {
            true => DOCUMENTS_SIDE_BY_SIDE,
            false => chunk(DOCUMENTS),
        }
    }

    /// How many documents a unit has after one that has come to its end. Side by side, a unit that loses a conflict costs more than
    /// several small ones.
    fn more_documents(&self, documents: usize) -> usize {
        let more = if self.is_side_by_side() {
            documents + documents.div_ceil(4)
        } else {
            documents * 2
        };
        more.min(self.most_documents())
    }

    /// The records of the next unit.
    async fn next_records(&self, pace: &mut Pace) -> Result<Vec<RawBson>> {
        if self.is_side_by_side() {
            let claim = Claim {
                by: self.outbox.id,
                millis: i64::try_from(CLAIM.as_millis()).unwrap_or(i64::MAX),
                targets: pace.documents,
                among: pace.among,
                begin: pace.begin,
            };
            let Claimed { records, read } = self.work_once(&Arc::new(claim)).await?;
            let is_little = records.len() * 4 < read;
            let among = if is_little {
                pace.among / 2
            } else {
                pace.among * 2
            };
            pace.among = among.clamp(LEAST_RECORDS, RECORDS);
            return Ok(records);
        }
        // A unit is the only one while it runs.
        let source = self.source().await?;
        let id = |record: &RawDocument| {
            let id = path::get(record, "_id");
            Ok(id.map_or(RawBson::Null, RawBson::from))
        };
        let next = next_records(RECORDS);
        Ok(source.reader().find_with(&next, id).await?.0)
    }

    /// Works off the next records by one unit of at most so many documents, or of fewer while some cannot be refreshed.
    /// Returns whether there were any.
    async fn work_off_next(&self, pace: &mut Pace) -> Result<bool> {
        let _working = self.outbox.working.lock().await;
        let records = match self.next_records(pace).await {
            Err(error) if error.is_conflict() => {
                pace.has_lost().await;
                return Ok(true);
            }
            records => records?,
        };
        if records.is_empty() {
            return Ok(false);
        }
        let mut failed = None;
        loop {
            let batch = Batch {
                records: records.clone(),
                limit: pace.documents,
                failed: failed.take(),
            };
            let operation = Operation::begin("refresh", "").of(pace.documents);
            let batch = Arc::new(batch);
            let worked = match self.is_side_by_side() {
                true => self.work_once(&batch).await,
                false => self.work_alone(&batch).await,
            };
            let worked = operation.observe(worked);
            match worked {
                Ok(worked) => {
                    tracing::debug!(
                        target: "odm",
                        database = self.database(),
                        documents = worked.documents,
                        done = worked.done,
                        parked = worked.parked,
                        "outbox: batch worked off"
                    );
                    metrics::outbox_batch(self.database());
                    self.record(operation, worked.cost);
                    let documents = self.more_documents(pace.documents);
                    *pace = Pace {
                        documents,
                        among: pace.among,
                        ..self.first_pace()
                    };
                    return Ok(true);
                }
                Err(error) if is_permanent(&error) => match pace.documents {
                    1 => {
                        tracing::warn!(
                            target: "odm",
                            database = self.database(),
                            %error,
                            "outbox: a document was not refreshed, and its record is parked"
                        );
                        failed = Some(FailedRefresh::new(&error));
                    }
                    _ => pace.documents /= 2,
                },
                Err(error) if error.is_conflict() => match pace.documents {
                    1 => {
                        pace.has_lost().await;
                        return Ok(true);
                    }
                    documents => pace.documents = (documents / 4).max(1),
                },
                Err(error) => return Err(error),
            }
        }
    }

    /// Tells the metrics what is left.
    async fn measure_outbox(&self) -> Result<()> {
        if metrics::IS_ON {
            let lag = self.lag().await?;
            let now = DateTime::now().timestamp_millis();
            let age = lag
                .oldest
                .map_or(0, |oldest| now.saturating_sub(oldest.timestamp_millis()));
            metrics::outbox(self.database(), lag.waiting, age, lag.parked.len());
        }
        Ok(())
    }
}
