//! Writes of one document by one message, without a transaction.
//!
//! The message of a write that depends on an epoch is a `bulkWrite` of two statements, which the server carries out in their order; if the
//! first one fails, it leaves out the second. The first statement finds a slot of `_odm_locks` in the epoch of the write, and changes
//! nothing. In another epoch it finds no slot, would insert one, and fails, since its `_id` exists. It is carried out again if the driver
//! sends the message again, since the server remembers only statements that have changed something. Any other write is the second statement
//! alone.
//!
//! Between the two statements another epoch can begin. So a change of the epoch that matters is announced, and waits for [`UNDER_WAY`]; and
//! a write that took longer than [`SOON`] checks the epoch once more.

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
    options::{
        DeleteOneModel, InsertOneModel, ReplaceOneModel, UpdateModifications, UpdateOneModel,
        WriteModel,
    },
    results::VerboseBulkWriteResult,
};
use bson::{Bson, Document, RawBson, RawDocumentBuf, Timestamp, doc, rawdoc};
use odm_mql::{Operation, Update};
use odm_store::{
    Change, Cost, Durability, Error, ErrorKind, OtherEpoch, Result, SingleWrite,
    SingleWriteRequest, UpdateWrite, Updated, check_document,
};

use super::{
    Connection,
    error::{caused, code, lacks_bulk_write, translate, unconfirmed},
    lock,
    session::to_its_end,
};

/// How long a write may be under way after another epoch has begun.
pub(super) const UNDER_WAY: Duration = Duration::from_secs(1);
/// The time within which a write has ended for every process that waits for [`UNDER_WAY`], regardless of their clocks.
const SOON: Duration = Duration::from_millis(500);

impl Connection {
    /// Runs a write in a task of its own, so that it is known whether it was late, even if its caller is dropped.
    pub(super) async fn write_single(
        self: Arc<Self>,
        request: &SingleWriteRequest,
        durability: Durability,
    ) -> Result<Option<Updated>> {
        let collection = request.write.collection().to_owned();
        let namespace = self.namespace(&collection);
        let Some(write) = self
            .statement(namespace, &request.write)
            .filter(|_| self.has_bulk_write())
        else {
            return Ok(None);
        };
        let check = request.epoch.map(|epoch| self.check_of(epoch));
        let is_repeatable = is_repeatable(&request.write);
        to_its_end(async move {
            let begin = Instant::now();
            let sent = self
                .send(statements(check.clone(), Some(write)), durability)
                .await;
            let result = match sent {
                Ok(result) => result,
                Err(error) => {
                    if lacks_bulk_write(&error) {
                        self.lacks_bulk_write();
                    }
                    // The epoch of an unconfirmed write is not checked once more.
                    let unconfirmed = |error| match begin.elapsed() > SOON {
                        true if check.is_some() => {
                            late(&collection, "may be stored or not, and", error)
                        }
                        _ => unconfirmed(error),
                    };
                    return written_despite(error, check.is_some(), is_repeatable, unconfirmed)
                        .map(|()| None);
                }
            };
            let slot = check.as_ref().and(result.update_results.get(&0));
            if slot.is_some_and(|slot| slot.upserted_id.is_some()) {
                return Err(unlocked(&collection));
            }
            let updated = updated(&result, usize::from(check.is_some()));
            let written = updated.map_or(0, |updated| updated.cost.documents_written);
            if check.is_some() && written > 0 && begin.elapsed() > SOON {
                let checked = self.send(statements(check, None), durability).await;
                checked.map_err(|error| late(&collection, "is stored, but", error))?;
            }
            Ok(updated)
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
        statements: Vec<WriteModel>,
        durability: Durability,
    ) -> DriverResult<VerboseBulkWriteResult> {
        // A consistent session requests a state that is not older than its last answer, which not every server accepts in a `bulkWrite`.
        let session = self.client.start_session().causal_consistency(false);
        let mut session = session.await?;
        let write = self.client.bulk_write(statements).ordered(true);
        let bypasses = self.bypasses_validators.load(Ordering::Acquire);
        let write = match bypasses {
            true => write.bypass_document_validation(true),
            false => write,
        };
        let write = write.write_concern(self.write_concern(durability));
        let result = write.session(&mut session).verbose_results().await?;
        self.committed(&session);
        Ok(result)
    }

    /// The statement of a write, if it has the same effect on the server, byte for byte.
    fn statement(&self, namespace: Namespace, write: &SingleWrite) -> Option<WriteModel> {
        Some(match write {
            SingleWrite::Insert { document, .. } => InsertOneModel::builder()
                .namespace(namespace)
                .document(whole(document)?)
                .build()
                .into(),
            SingleWrite::Update(write) => match &write.change {
                Change::Update(_) if write.upsert => return None,
                Change::Update(update) => UpdateOneModel::builder()
                    .namespace(namespace)
                    .filter(self.form(&write.filter).ok()?)
                    .update(UpdateModifications::Document(native(update)?))
                    .build()
                    .into(),
                Change::Replace(document) => {
                    let mut replacement = whole(document)?;
                    // The stored document keeps its `_id`, and a new one gets the `_id` of the filter.
                    replacement.remove("_id");
                    ReplaceOneModel::builder()
                        .namespace(namespace)
                        .filter(self.form(&write.filter).ok()?)
                        .replacement(replacement)
                        .upsert(write.upsert)
                        .build()
                        .into()
                }
            },
            SingleWrite::Delete(write) => DeleteOneModel::builder()
                .namespace(namespace)
                .filter(self.form(&write.filter).ok()?)
                .build()
                .into(),
        })
    }
}

/// The statements of a message: the check comes first, and the write follows if the check has not failed.
fn statements(check: Option<UpdateOneModel>, write: Option<WriteModel>) -> Vec<WriteModel> {
    check
        .map(WriteModel::from)
        .into_iter()
        .chain(write)
        .collect()
}

/// The result of the write, the statement at an index. `None` if no document matched an update; a removal that matched none has a result.
fn updated(result: &VerboseBulkWriteResult, index: usize) -> Option<Updated> {
    let written = |updated: Updated, written| {
        let cost = Cost {
            queries: 1,
            documents_written: written,
            ..Cost::default()
        };
        Some(Updated { cost, ..updated })
    };
    let inserted = Updated {
        inserted: true,
        ..Updated::default()
    };
    if let Some(deleted) = result.delete_results.get(&index) {
        let removed = deleted.deleted_count;
        let updated = Updated {
            matched: removed,
            modified: removed,
            ..Updated::default()
        };
        return written(updated, removed);
    }
    match result.update_results.get(&index) {
        None => written(inserted, 1),
        Some(of) if of.upserted_id.is_some() => written(inserted, 1),
        Some(of) if of.matched_count == 0 => None,
        Some(of) => {
            let updated = Updated {
                matched: of.matched_count,
                modified: of.modified_count,
                ..Updated::default()
            };
            written(updated, of.modified_count)
        }
    }
}

/// Whether an error means that another epoch has begun, or that the write may be stored. Otherwise nothing is written.
///
/// If the driver has sent a message twice, the first answer was lost. It then returns the first error of a statement, but the second error
/// of a command. So a check that fails the second time, since another epoch has begun after the first one, is an answer that was lost.
fn written_despite(
    error: DriverError,
    has_check: bool,
    is_repeatable: bool,
    unconfirmed: impl FnOnce(DriverError) -> Error,
) -> Result<()> {
    if error.contains_label(NO_WRITES_PERFORMED) {
        return Ok(());
    }
    match &*error.kind {
        DriverKind::BulkWrite(bulk) if bulk.write_concern_errors.is_empty() => {
            match bulk.write_errors.get(&0) {
                Some(check) if has_check && check.code == code::DUPLICATE_KEY => {
                    Err(OtherEpoch.into())
                }
                None if bulk.write_errors.is_empty() => Err(unconfirmed(error)),
                _ => Ok(()),
            }
        }
        DriverKind::InvalidArgument { .. } | DriverKind::IncompatibleServer { .. } => Ok(()),
        DriverKind::Command(command)
            if (is_repeatable || is_about_command(command.code))
                && !error.contains_label(RETRYABLE_WRITE_ERROR) =>
        {
            Ok(())
        }
        DriverKind::ServerSelection { .. }
        | DriverKind::ConnectionPoolCleared { .. }
        | DriverKind::DnsResolve { .. }
        | DriverKind::Authentication { .. } => Err(translate(error, None)),
        _ => Err(unconfirmed(error)),
    }
}

/// Whether an error is about the command itself, so that the server has refused it the first time as well.
fn is_about_command(code: i32) -> bool {
    [
        code::UNAUTHORIZED,
        code::COMMAND_NOT_FOUND,
        code::COMMAND_NOT_SUPPORTED,
        code::UNKNOWN_FIELD,
        code::BAD_VALUE,
        code::FAILED_TO_PARSE,
        code::INVALID_NAMESPACE,
        code::TOO_LARGE,
    ]
    .contains(&code)
}

/// Whether a write that is carried out twice has the same effect and result as once.
fn is_repeatable(write: &SingleWrite) -> bool {
    let SingleWrite::Update(UpdateWrite { change, .. }) = write else {
        return false;
    };
    let Change::Update(update) = change else {
        return true;
    };
    let mut operations = update.operations.iter();
    operations.all(|(_, operation)| {
        !matches!(
            operation,
            Operation::Inc(_) | Operation::Add(_) | Operation::Push(_) | Operation::Pop(_)
        )
    })
}

/// The error of a write that may be stored in an epoch in which it has consequences.
#[cold]
fn late(collection: &str, what: &str, error: DriverError) -> Error {
    let message = format!(
        "write to `{collection}` {what} took so long that other relations may have been declared meanwhile: what follows \
         from it is not known, and `audit()` finds it"
    );
    tracing::error!(target: "odm", collection, "{message}");
    caused(ErrorKind::Unavailable, message, error).at(collection, None, None)
}

/// The error of a write whose slot did not exist.
#[cold]
fn unlocked(collection: &str) -> Error {
    let missing = lock::missing();
    let message = format!("write to `{collection}` is stored, but {missing}");
    Error::new(missing.kind(), message).at(collection, None, None)
}

/// A whole document, if the server stores it unchanged.
fn whole(document: &RawDocumentBuf) -> Option<Document> {
    let sent = Document::try_from(document).ok()?;
    let is_plain = sent.iter().all(|(name, value)| {
        let is_operator = name.starts_with('$');
        !is_operator && !matches!(value, Bson::Timestamp(time) if is_filled(*time))
    });
    let is_same = RawDocumentBuf::try_from(&sent).is_ok_and(|sent| sent == *document);
    (is_plain && is_same && check_document("", document).is_ok()).then_some(sent)
}

/// Whether the server replaces a timestamp by the time.
fn is_filled(time: Timestamp) -> bool {
    (time.time, time.increment) == (0, 0)
}

/// An update in the server's form, if it has the same effect there, byte for byte.
fn native(update: &Update) -> Option<Document> {
    let mut operations = update.operations.iter();
    let is_native = operations.all(|(path, operation)| {
        let values = operands(operation);
        !path.contains('$')
            && values
                .is_some_and(|values| values.iter().all(|value| is_stored_as_sent(path, value)))
    });
    let is_plain = update.array_filters.is_empty() && update.collation.is_none();
    let is_native = is_native && is_plain && !update.is_empty();
    is_native.then(|| update.to_ordered_document()).flatten()
}

/// The values of an operation that a server supports too.
fn operands(operation: &Operation) -> Option<&[RawBson]> {
    Some(match operation {
        Operation::Set(value)
        | Operation::SetOnInsert(value)
        | Operation::Inc(value)
        | Operation::Add(value)
        | Operation::Min(value)
        | Operation::Max(value) => std::slice::from_ref(value),
        Operation::Unset | Operation::Pop(_) => &[],
        // The server may leave elements that are equal in the order of a sort in any order.
        Operation::Push(push) if push.sort.is_none() => &push.each,
        Operation::AddToSet(values) => values,
        _ => return None,
    })
}

/// Whether the server stores a value at a path unchanged.
fn is_stored_as_sent(path: &str, value: &RawBson) -> bool {
    match value {
        RawBson::Timestamp(time) => !is_filled(*time),
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
