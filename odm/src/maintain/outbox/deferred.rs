//! The refreshes that are left to the worker and not done yet.

use std::{collections::HashMap, sync::OnceLock};

use bson::{RawBson, RawDocument};
use odm_mql::{Direction, Filter, Sort, Test, key, order, path};
use odm_store::{Find, FindByKey, Reader, ReaderExt, Result};

use super::{Record, TargetFields, work};
use crate::{
    catalog::{Along, Catalog, DerivedField, OUTBOX, references, without_positions},
    maintain::{
        Finding, Problem,
        derived::Inputs,
        places::each_embedded,
        unit::{Doc, id},
    },
    model::DateTime,
};

/// The refreshes of fields with `refresh = "later"` that a worker has not done yet, and the failed ones.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let refreshes = shop.deferred_refreshes().await?;
/// assert_eq!((refreshes.waiting, refreshes.oldest, refreshes.failed.len()), (0, None, 0));
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct DeferredRefreshes {
    /// The number of refreshes that wait. Each is for the referrers of one changed document, or for one field of one document.
    pub waiting: u64,
    /// The time of the oldest write that caused one of them.
    pub oldest: Option<DateTime>,
    /// The refreshes that have failed for a permanent reason. They are tried again by
    /// [`retry_failed_refreshes`](crate::Database::retry_failed_refreshes), and when a database is opened the next time.
    pub failed: Vec<FailedRefresh>,
}

/// A deferred refresh that has failed for a permanent reason.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// for refresh in shop.deferred_refreshes().await?.failed {
///     println!("{}.{} of {:?}: {}", refresh.collection, refresh.path, refresh.id, refresh.error);
/// }
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FailedRefresh {
    /// The collection of the documents that were to be refreshed.
    pub collection: String,
    /// The path of the field in these documents, or of their reference to the document whose copies they hold.
    pub path: String,
    /// The `_id` of the document with the field, or of the document that the reference names.
    pub id: RawBson,
    /// The time of the write that caused it.
    pub at: DateTime,
    /// The kind of the first error.
    pub kind: String,
    /// The message of the first error.
    pub error: String,
}

/// Returns the deferred refreshes in one state of the data.
pub(crate) async fn deferred_refreshes(reader: &dyn Reader) -> Result<DeferredRefreshes> {
    let waiting = Find {
        limit: None,
        ..work::next_records(0)
    };
    let (waiting, _) = reader.count(&waiting).await?;
    let failed = Find {
        filter: work::is_failed(true),
        limit: None,
        ..work::next_records(0)
    };
    let (failed, _) = reader.find_all(&failed).await?;
    let failed = failed
        .iter()
        .map(|record| Ok(Record::read(record)?.failed()));
    Ok(DeferredRefreshes {
        waiting,
        oldest: oldest_waiting(reader).await?,
        failed: failed.collect::<Result<_>>()?,
    })
}

/// Whether there is any record.
pub(crate) async fn has_records(reader: &dyn Reader) -> Result<bool> {
    let find = Find {
        collection: OUTBOX.to_owned(),
        limit: Some(1),
        ..Find::default()
    };
    Ok(reader.count(&find).await?.0 > 0)
}

/// Whether there is a record that waits.
pub(crate) async fn has_waiting(reader: &dyn Reader) -> Result<bool> {
    let any = Find {
        sort: Sort::new(),
        ..work::next_records(1)
    };
    Ok(reader.count(&any).await?.0 > 0)
}

/// The time of the oldest write that caused one of them.
pub(crate) async fn oldest_waiting(reader: &dyn Reader) -> Result<Option<DateTime>> {
    time_of_first(reader, work::next_records(1)).await
}

/// The time of the newest write that caused one of them.
pub(crate) async fn newest_waiting(reader: &dyn Reader) -> Result<Option<DateTime>> {
    let newest = Find {
        sort: Sort::new().by("at", Direction::Descending),
        ..work::next_records(1)
    };
    time_of_first(reader, newest).await
}

async fn time_of_first(reader: &dyn Reader, find: Find) -> Result<Option<DateTime>> {
    let (first, _) = reader.find_all(&find).await?;
    let first = first.first().map(|record| Record::read(record));
    Ok(first.transpose()?.map(|record| record.at.into()))
}

impl Record {
    /// Whether the record waits and its position is before a document: the worker will still refresh the document.
    fn is_before(&self, id: &RawBson) -> bool {
        let is_ahead = |after: &RawBson| {
            let order = order::compare(after.as_raw_bson_ref(), id.as_raw_bson_ref());
            order.is_lt()
        };
        !self.failed && self.after.as_ref().is_none_or(is_ahead)
    }

    fn failed(self) -> FailedRefresh {
        let (kind, error) = self.error.unwrap_or_default();
        let (TargetFields::Along(path) | TargetFields::At(path)) = self.target.fields;
        FailedRefresh {
            collection: self.target.holder,
            path,
            id: self.target.id,
            at: self.at.into(),
            kind,
            error,
        }
    }
}

/// Removes the wrong derived fields for which a record waits from findings, and returns them. Fields whose refresh has failed get
/// its error.
pub(in crate::maintain) async fn split_deferred(
    lookup: &mut dyn Inputs,
    catalog: &Catalog,
    collection: &str,
    documents: &[Doc],
    findings: &mut Vec<Finding>,
) -> Result<Vec<Finding>> {
    let by_id = OnceLock::new();
    let document_of = |finding: &Finding| {
        let by_id = by_id.get_or_init(|| {
            let documents = documents.iter();
            let keyed = documents.map(|document| (key::of(id(document)), document));
            keyed.collect::<HashMap<_, _>>()
        });
        by_id
            .get(&key::of(finding.id.as_raw_bson_ref()))
            .map(|document| &****document)
    };
    let targets: Vec<Option<(TargetFields, RawBson)>> = findings
        .iter()
        .map(|finding| target_of(catalog, collection, &document_of, finding))
        .collect();
    let ids: Vec<RawBson> = targets.iter().flatten().map(|(_, id)| id.clone()).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let find = FindByKey {
        find: Find {
            collection: OUTBOX.to_owned(),
            filter: Filter::Path("holder".into(), Test::Eq(collection.into())),
            ..Find::default()
        },
        path: "id".to_owned(),
        keys: ids,
    };
    let mut found = lookup.find_by_key(&find).await?.into_iter();
    let mut deferred = Vec::new();
    let mut left = Vec::new();
    for (mut finding, target) in findings.drain(..).zip(targets) {
        let Some((fields, _)) = target else {
            left.push(finding);
            continue;
        };
        let records = found.next().unwrap_or_default();
        let records = records.iter().map(|record| Record::read(record));
        let records = records.collect::<Result<Vec<Record>>>()?;
        let mut records: Vec<Record> = records
            .into_iter()
            .filter(|record| record.target.fields == fields)
            .collect();
        if records.iter().any(|record| record.is_before(&finding.id)) {
            deferred.push(finding);
            continue;
        }
        if let Some((_, error)) = records.pop().and_then(|record| record.error) {
            finding.problem = Problem::FailedRefresh(error);
        }
        left.push(finding);
    }
    *findings = left;
    Ok(deferred)
}

/// The fields and the `_id` in a record that would correct a wrong derived field.
fn target_of<'d>(
    catalog: &Catalog,
    collection: &str,
    document_of: &dyn Fn(&Finding) -> Option<&'d RawDocument>,
    finding: &Finding,
) -> Option<(TargetFields, RawBson)> {
    if !matches!(finding.problem, Problem::Derived(_)) {
        return None;
    }
    let path = without_positions(&finding.path);
    let mut fields = catalog.derived_in(collection);
    let field = fields.find(|field| field.path() == path)?;
    let fields = TargetFields::of(field);
    let TargetFields::Along(_) = fields else {
        return Some((fields, finding.id.clone()));
    };
    let document = document_of(finding)?;
    Some((fields, source_of(field, document, &finding.path)?))
}

/// The `_id` in the reference along which the field at this location of a document is derived.
fn source_of(field: &DerivedField, document: &RawDocument, location: &str) -> Option<RawBson> {
    let mut source = None;
    match field {
        DerivedField::Copy(copy) => {
            let Along::Local(reference) = &copy.along else {
                return None;
            };
            each_embedded(document, &copy.within, &mut |place, inner| {
                if place.path_of(&copy.name) == location {
                    source = path::get(inner, reference).map(RawBson::from);
                }
            });
        }
        field => {
            let (reference, _) = field.along()?;
            references(document, &reference, |id| source = Some(id.into()));
        }
    }
    source
}
