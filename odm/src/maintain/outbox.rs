//! The outbox: the refreshes that writes leave for later, as records in a collection of their own.
//!
//! A unit that changes a source of a *deferred* field does not refresh the field. In its own transaction it inserts a record that
//! names the documents to refresh: always a new record, so that concurrent units do not write the same document. A worker takes
//! the records, oldest first, and works them off in units of a bounded number of documents (`work`). It computes each field from
//! the state that its own transaction reads, so an older value never replaces a newer one. A record is removed in the transaction
//! that refreshes the last of its documents, so a crash at any moment loses no refresh.
//!
//! The worker refreshes the referrers of a source in the order of their `_id`s. Each unit stores in the record the last referrer
//! that it has refreshed. A unit that adds a reference to the source meanwhile computes the copy itself. A later change of the
//! source has a record of its own, which begins at the first referrer when the earlier record is done. So the last referrers are
//! reached even if the source changes all the time.
//!
//! On a store for several programs the workers of all programs take turns by a *lease* (`session/lease`), so that they do not get
//! in each other's way. Correctness does not depend on the lease: two units on the same documents conflict in the store, or the
//! second repeats the refresh of the first, and changes nothing. A worker that loses a conflict goes on with other records, since
//! the documents in the transaction of a killed process stay locked on a server for a minute.
//!
//! A record has the time of the write that caused it, also through a chain of deferred fields: all refreshes after a write are
//! done when no record is as old as the write. The records that a unit of the worker inserts get the time of the oldest record
//! that it works off. So a unit works off records of one level only, and of one time where these leave records of their own level, as lists of
//! ancestors do. Otherwise a record of a new write, worked off together with
//! a record from the end of a chain, would pass the older time on to its own chain, and that chain to the next.

mod deferred;
mod work;

use std::collections::HashSet;

use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf, raw::cstr};
use futures_core::future::BoxFuture;

use super::unit::{Doc, Unit};
use crate::{
    catalog::{DerivedField, FieldDefinition, OUTBOX},
    model::ObjectId,
};
pub(super) use deferred::split_deferred;
pub use deferred::{DeferredRefreshes, FailedRefresh};
pub(crate) use deferred::{
    deferred_refreshes, has_records, has_waiting, newest_waiting, oldest_waiting,
};
use odm_mql::{key, path};
use odm_store::{Error, ErrorKind, Result, mutants::mutant};
pub(crate) use work::{RefreshError, Retry, Waiting};

/// Documents to refresh.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Target {
    /// Their collection.
    holder: String,
    fields: TargetFields,
    id: RawBson,
}

/// The fields to refresh in the documents.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum TargetFields {
    /// The copies and lists of ancestors along the reference at this path, in all documents in which it names the target's `_id`.
    Along(String),
    /// The field at this path, in the document with the target's `_id`.
    At(String),
}

impl TargetFields {
    /// The fields that are refreshed together with a stale field.
    fn of(field: &DerivedField) -> Self {
        match field.along() {
            Some((reference, _)) => TargetFields::Along(reference),
            None => TargetFields::At(field.path().into_owned()),
        }
    }
}

/// The identity of a target, with the key of its `_id`.
type TargetKey = (String, TargetFields, Vec<u8>);

impl Target {
    /// The copies along a reference in all referrers of a source.
    pub(super) fn along(holder: &str, reference: &str, source: RawBson) -> Self {
        Target {
            holder: holder.to_owned(),
            fields: TargetFields::Along(reference.to_owned()),
            id: source,
        }
    }

    /// A field of one document.
    pub(super) fn field(holder: &str, path: &str, id: RawBson) -> Self {
        Target {
            holder: holder.to_owned(),
            fields: TargetFields::At(path.to_owned()),
            id,
        }
    }

    fn key(&self) -> TargetKey {
        let id = key::of(self.id.as_raw_bson_ref());
        (self.holder.clone(), self.fields.clone(), id)
    }

    /// A new record of the target.
    fn record(&self, at: bson::DateTime) -> RawDocumentBuf {
        let mut record = RawDocumentBuf::new();
        record.append(cstr!("_id"), RawBson::from(ObjectId::new()));
        record.append(cstr!("holder"), self.holder.as_str());
        match &self.fields {
            TargetFields::Along(path) => record.append(cstr!("reference"), path.as_str()),
            TargetFields::At(path) => record.append(cstr!("field"), path.as_str()),
        }
        record.append(cstr!("id"), self.id.clone());
        record.append(cstr!("at"), at);
        record.append(cstr!("parked"), false);
        record
    }
}

/// A record as it is stored.
struct Record {
    target: Target,
    /// The time of the write that caused the record.
    at: bson::DateTime,
    /// The last document that was refreshed.
    after: Option<RawBson>,
    failed: bool,
    /// The first error of a document that could not be refreshed: its kind, and its message.
    error: Option<(String, String)>,
}

impl Record {
    /// # Errors
    ///
    /// `Schema` if this version of the library does not write such a record.
    fn read(record: &RawDocument) -> Result<Self> {
        Self::parse(record).ok_or_else(|| {
            Error::new(
                ErrorKind::Schema,
                "unreadable outbox: a record of `_odm_outbox` is not what this version of the library writes; use a \
                 newer version of the library",
            )
        })
    }

    fn parse(record: &RawDocument) -> Option<Self> {
        let text = |name| path::get(record, name).and_then(RawBsonRef::as_str);
        let fields = match (text("reference"), text("field")) {
            (Some(path), None) => TargetFields::Along(path.to_owned()),
            (None, Some(path)) => TargetFields::At(path.to_owned()),
            _ => return None,
        };
        let error = match path::get(record, "error") {
            None => None,
            Some(error) => {
                let error = error.as_document()?;
                let kind = error.get_str("kind").ok()?;
                Some((kind.to_owned(), error.get_str("message").ok()?.to_owned()))
            }
        };
        Some(Record {
            target: Target {
                holder: text("holder")?.to_owned(),
                fields,
                id: path::get(record, "id")?.into(),
            },
            at: path::get(record, "at").and_then(RawBsonRef::as_datetime)?,
            after: path::get(record, "after").map(RawBson::from),
            failed: path::get(record, "parked").and_then(RawBsonRef::as_bool)?,
            error,
        })
    }
}

/// The targets that a unit adds to the outbox, or works off.
#[derive(Default)]
pub(super) struct Deferral {
    /// The targets that the unit has left to the worker.
    queued: HashSet<TargetKey>,
    /// The targets that a unit of the worker refreshes, in addition to the consequences of its changes.
    due: Vec<Due>,
    /// The time of the oldest record that a unit of the worker works off, which the new records of the unit get.
    since: Option<bson::DateTime>,
}

/// A target that is worked off.
struct Due {
    target: Target,
    /// The documents to refresh.
    documents: Vec<RawBson>,
}

impl Deferral {
    /// Whether the unit has left refreshes to the worker.
    pub(super) fn has_queued(&self) -> bool {
        !self.queued.is_empty()
    }

    /// The sources of copies along a reference that are worked off, each with the referrers to refresh.
    pub(super) fn due_along(&self, holder: &str, reference: &str) -> Vec<(RawBson, Vec<RawBson>)> {
        let due = self.due.iter().filter(|due| {
            due.target.holder == holder
                && matches!(&due.target.fields, TargetFields::Along(path) if path == reference)
        });
        due.map(|due| (due.target.id.clone(), due.documents.clone()))
            .collect()
    }

    /// The documents in which a field is worked off.
    pub(super) fn due_fields(&self, holder: &str, path: &str) -> impl Iterator<Item = RawBson> {
        let due = self.due.iter().filter(move |due| {
            due.target.holder == holder
                && matches!(&due.target.fields, TargetFields::At(field) if field == path)
        });
        due.flat_map(|due| due.documents.iter().cloned())
    }
}

impl Unit<'_> {
    /// Whether a change of the sources of a field leaves the refresh to the worker. A repair leaves nothing for later.
    pub(super) fn defers(&self, field: &dyn FieldDefinition) -> bool {
        field.is_deferred() && self.policy.trusts_stored
    }

    /// Leaves the refresh of documents to the worker.
    ///
    /// The documents are locked as for an immediate refresh. So this unit conflicts with a concurrent unit that copies the old
    /// value to a new holder, or that computes the field without the change: the second to commit begins anew.
    pub(super) fn queue_refreshes(&mut self, targets: Vec<Target>) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let at = self.outbox.since.unwrap_or_else(|| self.time());
            for target in targets {
                let is_lost = mutant("second record") && self.outbox.has_queued();
                if is_lost || !self.outbox.queued.insert(target.key()) {
                    continue;
                }
                self.lock(&target, false);
                self.insert(OUTBOX, Doc::new(target.record(at))).await?;
                if self.outbox.queued.len().is_multiple_of(self.bounds.chunk) {
                    self.forget_all(OUTBOX).await?;
                }
            }
            Ok(())
        })
    }

    /// Locks the documents that a refresh of a target reads: excludes other units from the source of copies, and shares the
    /// document of a field or, if `excludes`, excludes others from it.
    fn lock(&mut self, target: &Target, excludes: bool) {
        match &target.fields {
            TargetFields::Along(reference) => {
                if let Some(edge) = self.catalog.edge(&target.holder, reference) {
                    self.exclude(&edge.to, [&target.id]);
                }
            }
            TargetFields::At(_) if excludes => self.exclude(&target.holder, [&target.id]),
            TargetFields::At(_) => self.share(&target.holder, [&target.id]),
        }
    }
}
