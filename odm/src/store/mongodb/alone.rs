//! Updates of one document by one message, without a transaction.
//!
//! The message is a `bulkWrite` of two statements, which the server carries out in their order, and of which it leaves out the
//! second one where the first one fails. The first one finds a slot of `_odm_locks` in the epoch of the update, and changes
//! nothing. In another epoch it finds none, would insert one, and fails, since its `_id` is there. It is carried out again
//! where the driver sends the message again, since the server remembers only statements that have changed something.
//!
//! Between the two statements another epoch can begin. So a change of the epoch that matters is announced, and waits for
//! [`UNDER_WAY`]; and an update that took longer than [`SOON`] asks once more.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use ::mongodb::{
    Namespace,
    error::{
        Error as DriverError, ErrorKind as DriverKind, NO_WRITES_PERFORMED, RETRYABLE_WRITE_ERROR,
        Result as DriverResult,
    },
    options::{UpdateModifications, UpdateOneModel},
    results::SummaryBulkWriteResult,
};
use bson::{Bson, Document, RawBson, doc, rawdoc};

use super::{
    Connection,
    error::{code::DUPLICATE_KEY, translate, unconfirmed},
    lock,
    session::to_its_end,
};
use crate::{
    error::{Error, ErrorKind, Result},
    mql::{Operation, Update},
    store::{Cost, Durability, OtherEpoch, UpdateAlone, Updated, check_document},
};

/// How long an update may be under way after another epoch has begun.
pub(super) const UNDER_WAY: Duration = Duration::from_secs(1);
/// The time within which an update has ended for whoever waits for [`UNDER_WAY`], whatever their clocks.
const SOON: Duration = Duration::from_millis(500);

impl Connection {
    /// Runs an update in a task of its own, so that it is known whether it was late, also where its caller is dropped.
    pub(super) async fn update_alone(
        self: Arc<Self>,
        update: &UpdateAlone,
        durability: Durability,
    ) -> Result<Option<Updated>> {
        let Some(change) = native(update).filter(|_| self.has_bulk_write) else {
            return Ok(None);
        };
        let change = UpdateOneModel::builder()
            .namespace(self.namespace(&update.collection))
            .filter(update.filter.to_document())
            .update(UpdateModifications::Document(change))
            .build();
        let check = self.check_of(update.epoch);
        let collection = update.collection.clone();
        let is_repeatable = is_repeatable(update);
        to_its_end(async move {
            let begin = Instant::now();
            let sent = self.send(vec![check.clone(), change], durability).await;
            let result = match sent {
                Ok(result) => result,
                Err(error) => return written_despite(error, is_repeatable).map(|()| None),
            };
            if result.upserted_count > 0 {
                return Err(unlocked(&collection));
            }
            // That of the slot is one.
            let matched = u64::try_from(result.matched_count - 1).unwrap_or(0);
            let modified = u64::try_from(result.modified_count).unwrap_or(0);
            if modified > 0 && begin.elapsed() > SOON {
                let checked = self.send(vec![check], durability).await;
                checked.map_err(|error| late(&collection, error))?;
            }
            Ok((matched > 0).then_some(Updated {
                matched,
                modified,
                inserted: false,
                cost: Cost {
                    queries: 1,
                    documents_written: modified,
                    ..Cost::default()
                },
            }))
        })
        .await
    }

    fn namespace(&self, collection: &str) -> Namespace {
        Namespace::new(self.database.name(), collection)
    }

    /// The statement that fails in another epoch.
    fn check_of(&self, epoch: i64) -> UpdateOneModel {
        UpdateOneModel::builder()
            .namespace(self.namespace(lock::COLLECTION))
            .filter(doc! { "_id": self.turn.slot(), "epoch": epoch })
            .update(UpdateModifications::Document(
                doc! { "$setOnInsert": { "n": 0_i64 } },
            ))
            .upsert(true)
            .build()
    }

    /// Sends a message, which the driver sends again, once, if the answer is lost.
    async fn send(
        &self,
        statements: Vec<UpdateOneModel>,
        durability: Durability,
    ) -> DriverResult<SummaryBulkWriteResult> {
        // A consistent session asks for what is not older than its last answer, which not every server takes from a `bulkWrite`.
        let session = self.client.start_session().causal_consistency(false);
        let mut session = session.await?;
        let write = self.client.bulk_write(statements).ordered(true);
        let bypasses = self.bypasses_validators.load(Ordering::Acquire);
        let write = match bypasses {
            true => write.bypass_document_validation(true),
            false => write,
        };
        let write = write.write_concern(self.write_concern(durability));
        let result = write.session(&mut session).await?;
        self.committed(&session);
        Ok(result)
    }
}

/// Whether an error means that another epoch has begun, or that the update may be stored. Otherwise nothing is written.
///
/// Where the driver has sent a message twice, the first answer was lost. Of an error of a statement it returns the first error
/// then, and of an error of the command the second one.
fn written_despite(error: DriverError, is_repeatable: bool) -> Result<()> {
    if error.contains_label(NO_WRITES_PERFORMED) {
        return Ok(());
    }
    match &*error.kind {
        DriverKind::BulkWrite(bulk) if bulk.write_concern_errors.is_empty() => {
            match bulk.write_errors.get(&0) {
                Some(check) if check.code == DUPLICATE_KEY => Err(OtherEpoch.into()),
                None if bulk.write_errors.is_empty() => Err(unconfirmed(error)),
                _ => Ok(()),
            }
        }
        DriverKind::InvalidArgument { .. } | DriverKind::IncompatibleServer { .. } => Ok(()),
        DriverKind::Command(_) if is_repeatable && !error.contains_label(RETRYABLE_WRITE_ERROR) => {
            Ok(())
        }
        DriverKind::ServerSelection { .. }
        | DriverKind::ConnectionPoolCleared { .. }
        | DriverKind::DnsResolve { .. }
        | DriverKind::Authentication { .. } => Err(translate(error, None)),
        _ => Err(unconfirmed(error)),
    }
}

/// Whether an update that is carried out twice does what it does once.
fn is_repeatable(update: &UpdateAlone) -> bool {
    let mut operations = update.update.operations.iter();
    operations.all(|(_, operation)| {
        !matches!(
            operation,
            Operation::Inc(_) | Operation::Add(_) | Operation::Push(_) | Operation::Pop(_)
        )
    })
}

/// The error of an update that may be stored in an epoch in which something follows from it.
#[cold]
fn late(collection: &str, error: DriverError) -> Error {
    let message = format!(
        "update of `{collection}` is stored, but took so long that other relations may have been declared meanwhile: what follows \
         from it is not known, and `audit()` finds it"
    );
    tracing::error!(target: "odm", collection, "{message}");
    Error::new(ErrorKind::Unavailable, message)
        .with_source(error)
        .at(collection, None, None)
}

/// The error of an update whose slot was not there.
#[cold]
fn unlocked(collection: &str) -> Error {
    let missing = lock::missing();
    let message = format!("update of `{collection}` is stored, but {missing}");
    Error::new(missing.kind(), message).at(collection, None, None)
}

/// The update as the server has it, if it does the same there, byte for byte.
fn native(update: &UpdateAlone) -> Option<Document> {
    let Update {
        operations,
        array_filters,
        ..
    } = &update.update;
    let mut operations = operations.iter();
    let is_native = operations.all(|(path, operation)| {
        let values = operands(operation);
        !path.contains('$')
            && values
                .is_some_and(|values| values.iter().all(|value| is_stored_as_sent(path, value)))
    });
    let is_native = is_native && array_filters.is_empty() && !update.update.is_empty();
    is_native
        .then(|| update.update.to_ordered_document())
        .flatten()
}

/// The values of an operation that a server has too.
fn operands(operation: &Operation) -> Option<&[RawBson]> {
    Some(match operation {
        Operation::Set(value)
        | Operation::SetOnInsert(value)
        | Operation::Inc(value)
        | Operation::Add(value)
        | Operation::Min(value)
        | Operation::Max(value) => std::slice::from_ref(value),
        Operation::Unset | Operation::Pop(_) => &[],
        // Where elements are equal in the order of a sort, the server may leave them in any other.
        Operation::Push(push) if push.sort.is_none() => &push.each,
        Operation::AddToSet(values) => values,
        _ => return None,
    })
}

/// Whether the server stores a value at a path as it is.
fn is_stored_as_sent(path: &str, value: &RawBson) -> bool {
    match value {
        // The server puts the time in place of an empty one.
        RawBson::Timestamp(time) => (time.time, time.increment) != (0, 0),
        RawBson::Document(_) | RawBson::Array(_) | RawBson::JavaScriptCodeWithScope(_) => {
            // The driver's form of a document has each name once.
            let sent = Bson::try_from(value.clone()).and_then(RawBson::try_from);
            let outer = path.split('.').fold(value.clone(), |value, _| {
                RawBson::Document(rawdoc! { "_": value })
            });
            let stored = rawdoc! { "_id": 0, "_": outer };
            sent.is_ok_and(|sent| sent == *value) && check_document("", &stored).is_ok()
        }
        _ => true,
    }
}
