//! Writes that a caller may send again, since it may not have got the answer.
//!
//! A caller numbers its commands, and sends one after another. Beside the writes of a command, and in their unit, a record of the caller is
//! stored: the number of its last command, how many of the command's statements are done, and the answer so far. So a command that is sent
//! again, also after a crash, goes on after the statements that are done, and gets their answer.

use std::{fmt, sync::Arc, time::Duration};

use bson::{DateTime, RawBson, RawDocument, RawDocumentBuf};
use odm_mql::{Filter, Test};
use odm_store::{
    CollectionWrites, DeleteWrite, DocumentWrite, Durability, Error, ErrorKind, Reader, ReaderExt,
    Result, Store, Transaction, UnitOfWork,
};
use serde::{Deserialize, Serialize};

use super::Session;
use crate::{
    catalog::Catalog,
    maintain::{Job, NamedWrite, Told, WriteOutcome},
    trace::Operation,
};

/// The collection of the records, which exists once a caller has sent a command.
const COLLECTION: &str = "_odm_retries";

/// The commands of a caller.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct StoredRetries {
    /// The caller.
    #[serde(rename = "_id", with = "odm_mql::stored_value")]
    id: RawBson,
    /// The number of its last command.
    command: i64,
    /// How many statements of the command are done.
    done: i32,
    /// Their answer.
    #[serde(with = "odm_mql::stored_value")]
    answer: RawDocumentBuf,
    /// When the last of them was done.
    #[serde(with = "odm_mql::stored_value")]
    at: DateTime,
}

/// A part of a command.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::{Collections, bson::rawdoc, collections::{Retryable, Statement}};
///
/// let collections = Collections::of(&shop);
/// let part = Retryable { caller: "a client".into(), command: 1, begin: 0, end: 1 };
/// let insert = collections.collection("notes").insert([rawdoc! { "_id": 1 }]);
/// let done = collections.once(part, vec![Statement::Insert(insert)], |_, _| Ok(rawdoc! { "ok": 1 })).await?;
/// assert_eq!(done.number, 1);
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Retryable {
    /// The caller.
    pub caller: RawBson,
    /// The number of its command. A greater number is a later command, of which a record replaces that of the earlier one.
    pub command: i64,
    /// The number of the command's statements before this part.
    pub begin: i32,
    /// The number of the command's statements with this part.
    pub end: i32,
}

/// The statements of a command that are done.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::{Collections, bson::rawdoc, collections::Retryable};
///
/// let collections = Collections::of(&shop);
/// let part = Retryable { caller: "a client".into(), command: 1, begin: 0, end: 1 };
/// collections.once(part.clone(), Vec::new(), |_, _| Ok(rawdoc! { "ok": 1 })).await?;
/// let done = collections.done(&part).await?.unwrap();
/// assert_eq!((done.number, done.answer), (1, rawdoc! { "ok": 1 }));
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DoneStatements {
    /// Their number.
    pub number: i32,
    /// Their answer.
    pub answer: RawDocumentBuf,
}

/// Makes the answer of a command of the answer so far and the outcomes of the part.
pub(crate) type Answer =
    dyn Fn(Option<&RawDocument>, &[WriteOutcome]) -> Result<RawDocumentBuf> + Send + Sync;

/// The writes of a part of a command.
struct RetryableWrites {
    part: Retryable,
    writes: Vec<NamedWrite>,
    answer: Box<Answer>,
    /// The writes of a transaction come before, and must not be stored if the part is done already.
    ends_transaction: bool,
}

impl fmt::Debug for RetryableWrites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryableWrites")
            .field("part", &self.part)
            .finish_non_exhaustive()
    }
}

struct RetriedOutcome {
    done: DoneStatements,
    has_queued: bool,
}

impl StoredRetries {
    async fn of(reader: &dyn Reader, caller: &RawBson) -> Result<Option<(Self, RawDocumentBuf)>> {
        let (stored, _) = reader.get_one(COLLECTION, caller).await?;
        let Some(stored) = stored else {
            return Ok(None);
        };
        let read = odm_store::decode(stored.as_bytes()).map_err(|error| {
            let message = format!(
                "unreadable record: a document of `{COLLECTION}` is not what this version of the library writes; use a newer version of \
                 the library"
            );
            Error::new(ErrorKind::Schema, message).with_source(error)
        })?;
        Ok(Some((read, stored)))
    }

    /// The statements that are done, if the record is of this command.
    ///
    /// # Errors
    ///
    /// `Stale` if the record is of a later one.
    fn of_command(&self, part: &Retryable) -> Result<Option<DoneStatements>> {
        if self.command > part.command {
            let message = format!(
                "command {} came after command {} of the same caller, and is not carried out",
                part.command, self.command
            );
            return Err(Error::new(ErrorKind::Stale, message));
        }
        let is_same = self.command == part.command;
        Ok(is_same.then(|| DoneStatements {
            number: self.done,
            answer: self.answer.clone(),
        }))
    }
}

impl Job for RetryableWrites {
    type Outcome = RetriedOutcome;

    fn documents(&self) -> u64 {
        self.writes.documents()
    }

    fn has_queued(outcome: &RetriedOutcome) -> bool {
        outcome.has_queued
    }

    fn told(_: &RetriedOutcome) -> Option<Vec<Told>> {
        Some(Vec::new())
    }

    async fn apply(
        &self,
        catalog: &Catalog,
        transaction: &mut dyn Transaction,
        with_steps: bool,
    ) -> Result<RetriedOutcome> {
        let stored = StoredRetries::of(&*transaction, &self.part.caller).await?;
        let done = match &stored {
            Some((stored, _)) => stored.of_command(&self.part)?,
            None => None,
        };
        let number = done.as_ref().map_or(0, |done| done.number);
        if let Some(done) = &done
            && done.number != self.part.begin
        {
            if self.ends_transaction {
                let message = "the transaction was committed by a command that was sent before";
                return Err(Error::new(ErrorKind::Stale, message));
            }
            return Ok(RetriedOutcome {
                done: done.clone(),
                has_queued: false,
            });
        }
        if number != self.part.begin || self.part.end <= self.part.begin {
            let message = format!(
                "statements of a command are missing: {number} are done, and the part is of those from {} to {}",
                self.part.begin, self.part.end
            );
            return Err(Error::new(ErrorKind::InvalidQuery, message));
        }
        let outcomes = self.writes.apply(catalog, transaction, with_steps).await?;
        let before = done.as_ref().map(|done| &*done.answer);
        let record = StoredRetries {
            id: self.part.caller.clone(),
            command: self.part.command,
            done: self.part.end,
            answer: (self.answer)(before, &outcomes)?,
            at: DateTime::now(),
        };
        let after = odm_store::encode(&record).map_err(Error::malformed)?;
        let write = match &stored {
            None => DocumentWrite::Insert(&after),
            Some((_, before)) => DocumentWrite::Replace {
                before,
                after: &after,
            },
        };
        let batch = CollectionWrites {
            collection: COLLECTION,
            writes: vec![write],
        };
        transaction.apply(&[batch]).await?;
        Ok(RetriedOutcome {
            done: DoneStatements {
                number: record.done,
                answer: record.answer,
            },
            has_queued: <Vec<NamedWrite> as Job>::has_queued(&outcomes),
        })
    }

    async fn write_single(
        &self,
        _: &dyn Store,
        _: &Catalog,
        _: Durability,
        _: bool,
    ) -> Result<Option<RetriedOutcome>> {
        Ok(None)
    }
}

impl Session {
    /// Carries out a part of a command as one unit, unless it is done already. Returns all that is done of the command.
    pub(crate) async fn write_once(
        &self,
        part: Retryable,
        writes: Vec<NamedWrite>,
        answer: Box<Answer>,
    ) -> Result<DoneStatements> {
        self.refuse_in_snapshot(|| "command".to_owned())?;
        if self.is_bound() {
            let message = "command that can be sent again in a transaction, which its caller runs again as a whole";
            return Err(Error::new(ErrorKind::InvalidQuery, message));
        }
        let operation = Operation::begin("command", COLLECTION).of(writes.len());
        let writes = Arc::new(RetryableWrites {
            part,
            writes,
            answer,
            ends_transaction: false,
        });
        let outcome = operation.observe(self.work(&writes, |_| false).await)?;
        Ok(outcome.done)
    }

    /// Records a part of a command in the transaction of the session, whose writes are the part.
    pub(crate) async fn record_done(&self, part: Retryable) -> Result<()> {
        let record = Arc::new(RetryableWrites {
            part,
            writes: Vec::new(),
            answer: Box::new(|_, _| Ok(RawDocumentBuf::new())),
            ends_transaction: true,
        });
        self.work(&record, |_| false).await.map(drop)
    }

    /// The statements of a command that are done.
    pub(crate) async fn done_of(&self, part: &Retryable) -> Result<Option<DoneStatements>> {
        let source = self.source().await?;
        match StoredRetries::of(source.reader(), &part.caller).await? {
            Some((stored, _)) => stored.of_command(part),
            None => Ok(None),
        }
    }

    /// Removes the records of callers that have sent nothing for a while.
    pub(crate) async fn forget_retries(&self, unused_for: Duration) -> Result<()> {
        struct Forget(DateTime);

        #[async_trait::async_trait]
        impl UnitOfWork for Forget {
            async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
                let forgotten = DeleteWrite {
                    collection: COLLECTION.to_owned(),
                    filter: Filter::Path("at".into(), Test::Lt(self.0.into())),
                };
                transaction.delete(&forgotten).await.map(drop)
            }
        }

        let now = DateTime::now().timestamp_millis();
        let unused = i64::try_from(unused_for.as_millis()).unwrap_or(i64::MAX);
        let until = DateTime::from_millis(now.saturating_sub(unused));
        self.store
            .run(Arc::new(Forget(until)), Durability::Eventual)
            .await
    }
}
