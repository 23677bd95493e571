//! The units of the worker.

use std::collections::{BTreeMap, BTreeSet};

use bson::{RawBson, RawDocumentBuf, raw::cstr};

use super::{Due, Record, Target, TargetFields, TargetKey};
use crate::{
    catalog::{Catalog, CopyDefinition, FromDerived, OUTBOX},
    error::{Error, Result},
    maintain::{
        derived,
        places::FieldValues,
        run::Work,
        unit::{Bounds, Unit, id},
    },
    model::{DateTime, ObjectId},
    mql::{Direction, Filter, Sort, Test},
    mutants::mutant,
    store::{Cost, Find, Transaction},
};

/// Why a document could not be refreshed.
#[derive(Debug)]
pub(crate) struct FailedRefresh {
    kind: String,
    message: String,
}

impl FailedRefresh {
    pub(crate) fn new(error: &Error) -> Self {
        FailedRefresh {
            kind: format!("{:?}", error.kind()),
            message: error.to_string(),
        }
    }
}

/// A unit of the worker: works off records, as far as a number of documents goes.
#[derive(Debug)]
pub(crate) struct Batch {
    /// The records, in the order in which they are worked off. Those that are gone by now are left out.
    pub(crate) records: Vec<RawBson>,
    /// How many documents are gone through at most.
    pub(crate) limit: usize,
    /// The error of the first document that would be gone through, which is left out instead.
    pub(crate) failed: Option<FailedRefresh>,
}

/// What became of a batch.
#[derive(Debug, Default)]
pub(crate) struct Worked {
    /// What it touched.
    pub(crate) cost: Cost,
    /// How many documents it went through.
    pub(crate) documents: usize,
    /// How many records are done.
    pub(crate) done: usize,
    /// How many records are parked now.
    pub(crate) parked: usize,
    has_queued: bool,
}

/// The records of one target that are worked off together.
struct Group {
    target: Target,
    after: Option<RawBson>,
    records: Vec<RawBson>,
    /// The time of the newest one.
    newest: bson::DateTime,
}

/// What becomes of the records of a target.
enum Fate {
    /// Nothing is left to refresh.
    Done,
    /// It goes on after this document.
    After(RawBson),
    /// It was not begun.
    Left,
}

impl Work for Batch {
    type Outcome = Worked;

    fn has_queued(worked: &Worked) -> bool {
        worked.has_queued
    }

    async fn apply(
        &self,
        catalog: &Catalog,
        transaction: &mut dyn Transaction,
        with_steps: bool,
    ) -> Result<Worked> {
        let mut unit = Unit::new(catalog, transaction, Bounds::default(), with_steps);
        let (groups, since) = groups(&mut unit, &self.records).await?;
        unit.outbox.since = since;
        let mut left = self.limit;
        let mut fates = Vec::new();
        let mut is_failed = None;
        for (at, group) in groups.iter().enumerate() {
            if left == 0 {
                fates.push(Fate::Left);
                continue;
            }
            let (documents, has_more) = next_documents(&mut unit, group, left).await?;
            left -= documents.len();
            fates.push(match documents.last() {
                Some(last) if has_more && !mutant("rest of a refresh") => Fate::After(last.clone()),
                _ => Fate::Done,
            });
            if documents.is_empty() {
                continue;
            }
            match self.failed {
                Some(_) => is_failed = Some(at),
                None => unit.outbox.due.push(Due {
                    target: group.target.clone(),
                    documents,
                }),
            }
        }
        // What the unit writes from here on follows from the records.
        unit.end_step(|| "records of the outbox".to_owned());
        derived::refresh(&mut unit).await?;
        let mut worked = Worked {
            documents: self.limit - left,
            ..Worked::default()
        };
        let mut right = BTreeMap::new();
        for (at, (group, fate)) in groups.into_iter().zip(fates).enumerate() {
            let failed = self.failed.as_ref().filter(|_| is_failed == Some(at));
            if end(&mut unit, group.records, fate, failed, &mut worked).await? {
                right.insert(group.target.key(), (group.target.id, group.newest));
            }
        }
        forget_parked(&mut unit, right).await?;
        unit.finish().await?;
        unit.end_step(|| "batch of writes".to_owned());
        worked.has_queued = unit.outbox.has_queued();
        worked.cost = unit.into_cost().1;
        Ok(worked)
    }
}

/// The level of the derived fields at which what records refresh begins.
struct Levels(BTreeMap<(String, TargetFields), usize>);

impl Levels {
    fn new(catalog: &Catalog) -> Self {
        let mut levels = BTreeMap::new();
        for (level, fields) in catalog.levels().enumerate() {
            for ordered in fields {
                let of = (
                    ordered.field.holder().to_owned(),
                    TargetFields::of(ordered.field),
                );
                levels.entry(of).or_insert(level);
            }
        }
        Levels(levels)
    }

    /// That of a target. A field that the models no longer have is of the first one.
    fn of(&self, target: &Target) -> usize {
        let of = (target.holder.clone(), target.fields.clone());
        self.0.get(&of).copied().unwrap_or(0)
    }
}

/// The records of the level of the first one by their targets, in their order, and the time of the oldest one. Of a target that
/// is gone through already, the others wait until that is done.
async fn groups(
    unit: &mut Unit<'_>,
    ids: &[RawBson],
) -> Result<(Vec<Group>, Option<bson::DateTime>)> {
    let mut all: Vec<(RawBson, Record)> = Vec::new();
    for at in unit.load_existing(OUTBOX, ids).await? {
        if let Some(document) = unit.document(OUTBOX, at) {
            all.push((id(document).into(), Record::read(document)?));
        }
    }
    all.retain(|(_, record)| !record.parked);
    let levels = Levels::new(unit.catalog);
    if let Some(level) = all.first().map(|(_, first)| levels.of(&first.target)) {
        all.retain(|(_, record)| levels.of(&record.target) == level);
    }
    let begun = all.iter().filter(|(_, record)| record.after.is_some());
    let begun: BTreeSet<TargetKey> = begun.map(|(_, record)| record.target.key()).collect();
    let mut groups: Vec<Group> = Vec::new();
    let mut positions: BTreeMap<TargetKey, usize> = BTreeMap::new();
    let mut since: Option<bson::DateTime> = None;
    for (
        id,
        Record {
            target, at, after, ..
        },
    ) in all
    {
        let key = target.key();
        if after.is_none() && begun.contains(&key) {
            continue;
        }
        since = Some(since.map_or(at, |since| since.min(at)));
        match positions.get(&key) {
            Some(&position) => {
                let group = &mut groups[position];
                // Two workers may have begun at different times: from the earlier position, both come to the end.
                group.after = earlier(group.after.take(), after);
                group.records.push(id);
                group.newest = group.newest.max(at);
            }
            None => {
                positions.insert(key, groups.len());
                groups.push(Group {
                    target,
                    after,
                    records: vec![id],
                    newest: at,
                });
            }
        }
    }
    Ok((groups, since))
}

/// The earlier one of two positions.
fn earlier(one: Option<RawBson>, other: Option<RawBson>) -> Option<RawBson> {
    let (one, other) = one.zip(other)?;
    let order = crate::mql::order::compare(one.as_raw_bson_ref(), other.as_raw_bson_ref());
    Some(if order.is_le() { one } else { other })
}

/// The next documents of a target, at most so many, and whether there are more.
async fn next_documents(
    unit: &mut Unit<'_>,
    group: &Group,
    limit: usize,
) -> Result<(Vec<RawBson>, bool)> {
    let Target { holder, fields, id } = &group.target;
    let catalog = unit.catalog;
    let mut derived = catalog.derived_in(holder);
    match fields {
        TargetFields::At(path) => {
            // The models may have changed since.
            let is_there = derived.any(|field| field.path() == path.as_str());
            Ok((is_there.then(|| id.clone()).into_iter().collect(), false))
        }
        TargetFields::Along(reference) => {
            let mut copies = derived.filter_map(CopyDefinition::from_derived);
            let copy = copies.find(|copy| copy.reference().as_ref() == Some(reference));
            let Some(copy) = copy else {
                return Ok((Vec::new(), false));
            };
            let referred = (copy.source.as_str(), vec![id.clone()]);
            let find = Find {
                limit: Some(limit as u64 + 1),
                after: group.after.clone().map(|after| vec![after]),
                ..unit.find_referrers(referred, holder, reference)
            };
            let found = unit.search_images(&find).await?;
            let documents = found.iter().take(limit);
            let documents = documents.filter_map(|&at| unit.document(holder, at));
            let documents = documents.map(|document| self::id(document).into());
            Ok((documents.collect(), found.len() > limit))
        }
    }
}

/// Writes to the records of a target what became of them. Returns whether all its documents are right now.
async fn end(
    unit: &mut Unit<'_>,
    records: Vec<RawBson>,
    fate: Fate,
    failed: Option<&FailedRefresh>,
    worked: &mut Worked,
) -> Result<bool> {
    let mut is_right = matches!(fate, Fate::Done);
    // A flush of many new records may have forgotten the images.
    for at in unit.load_existing(OUTBOX, &records).await? {
        let Some(document) = unit.document(OUTBOX, at) else {
            continue;
        };
        let has_failed = failed.is_some() || Record::read(document)?.error.is_some();
        is_right &= !has_failed;
        let mut fields = unclaimed();
        if let Some(FailedRefresh { kind, message }) = failed {
            let mut error = RawDocumentBuf::new();
            error.append(cstr!("kind"), kind.as_str());
            error.append(cstr!("message"), message.as_str());
            fields.push(("error".to_owned(), Some(error.into())));
        }
        match &fate {
            Fate::Done if has_failed => {
                worked.parked += 1;
                fields.push(("parked".to_owned(), Some(true.into())));
                fields.push(("after".to_owned(), None));
            }
            Fate::Done => {
                worked.done += 1;
                unit.remove(OUTBOX, at).await?;
                continue;
            }
            Fate::After(last) => fields.push(("after".to_owned(), Some(last.clone()))),
            Fate::Left => {}
        }
        unit.set_derived(OUTBOX, at, fields).await?;
    }
    Ok(is_right)
}

/// Removes the parked records of targets that are right now, but for those that are newer than what was worked off.
async fn forget_parked(
    unit: &mut Unit<'_>,
    right: BTreeMap<TargetKey, (RawBson, bson::DateTime)>,
) -> Result<()> {
    if right.is_empty() {
        return Ok(());
    }
    let ids: Vec<RawBson> = right.values().map(|(id, _)| id.clone()).collect();
    let parked = Find {
        collection: OUTBOX.to_owned(),
        filter: is_parked(true).and(Filter::Path("id".into(), Test::In(ids.into()))),
        ..Find::default()
    };
    for at in unit.search_images(&parked).await? {
        let Some(document) = unit.document(OUTBOX, at) else {
            continue;
        };
        let record = Record::read(document)?;
        let newest = right.get(&record.target.key());
        if record.parked && newest.is_some_and(|(_, newest)| record.at <= *newest) {
            unit.remove(OUTBOX, at).await?;
        }
    }
    Ok(())
}

/// The fields of a record that nobody has claimed.
fn unclaimed() -> FieldValues {
    let claim = ["claimed_by", "claimed_until"].into_iter();
    claim.map(|field| (field.to_owned(), None)).collect()
}

/// The records that are worked off next, oldest first.
pub(crate) fn next_records(limit: u64) -> Find {
    Find {
        collection: OUTBOX.to_owned(),
        filter: is_parked(false),
        sort: Sort::new().by("at", Direction::Ascending),
        limit: Some(limit),
        ..Find::default()
    }
}

pub(super) fn is_parked(parked: bool) -> Filter {
    Filter::Path("parked".into(), Test::Eq(parked.into()))
}

/// Claims the next records that no other worker has claimed, and returns them.
#[derive(Debug)]
pub(crate) struct Claim {
    /// The worker.
    pub(crate) by: ObjectId,
    /// How long.
    pub(crate) millis: i64,
    /// How many targets they have at most.
    pub(crate) targets: usize,
    /// Among how many of the oldest records they are: all of these that have a claimed target are claimed, since one
    /// refresh is for all of them.
    pub(crate) among: u64,
    /// The place among these of the first one, from 0 for the oldest to 1, excluded. After the newest one follows the oldest.
    pub(crate) begin: f64,
}

/// What a worker has claimed.
#[derive(Debug)]
pub(crate) struct Claimed {
    pub(crate) records: Vec<RawBson>,
    /// How many records were read for that.
    pub(crate) read: usize,
}

impl Work for Claim {
    type Outcome = Claimed;

    fn has_queued(_: &Claimed) -> bool {
        false
    }

    async fn apply(
        &self,
        catalog: &Catalog,
        transaction: &mut dyn Transaction,
        with_steps: bool,
    ) -> Result<Claimed> {
        let mut unit = Unit::new(catalog, transaction, Bounds::default(), with_steps);
        let now = RawBson::DateTime(unit.time());
        let is_free = Filter::Or(vec![
            Filter::Path("claimed_until".into(), Test::Exists(false)),
            Filter::Path("claimed_until".into(), Test::Lte(now)),
            Filter::Path("claimed_by".into(), Test::Eq(self.by.into())),
        ]);
        let next = next_records(self.among);
        let next = Find {
            filter: next.filter.and(is_free),
            ..next
        };
        let until =
            DateTime::from_millis(unit.time().timestamp_millis().saturating_add(self.millis));
        let mut targets: BTreeSet<TargetKey> = BTreeSet::new();
        let levels = Levels::new(catalog);
        let mut level = None;
        let mut claimed = Vec::new();
        let mut found = unit.search_images(&next).await?;
        let read = found.len();
        let begin = (read as f64 * self.begin) as usize;
        found.rotate_left(begin);
        for at in found {
            let Some(document) = unit.document(OUTBOX, at) else {
                continue;
            };
            let target = Record::read(document)?.target;
            let of = levels.of(&target);
            let target = target.key();
            let is_full = targets.len() == self.targets && !targets.contains(&target);
            if is_full || *level.get_or_insert(of) != of {
                continue;
            }
            targets.insert(target);
            claimed.push(id(document).into());
            let claim = vec![
                ("claimed_by".to_owned(), Some(self.by.into())),
                ("claimed_until".to_owned(), Some(until.into())),
            ];
            unit.set_derived(OUTBOX, at, claim).await?;
        }
        unit.finish().await?;
        Ok(Claimed {
            records: claimed,
            read,
        })
    }
}

/// Has parked records worked off again, from their first documents on. Returns how many.
#[derive(Debug)]
pub(crate) struct Retry {
    pub(crate) limit: u64,
}

impl Work for Retry {
    type Outcome = usize;

    fn has_queued(retried: &usize) -> bool {
        *retried > 0
    }

    async fn apply(
        &self,
        catalog: &Catalog,
        transaction: &mut dyn Transaction,
        with_steps: bool,
    ) -> Result<usize> {
        let mut unit = Unit::new(catalog, transaction, Bounds::default(), with_steps);
        let parked = Find {
            filter: is_parked(true),
            ..next_records(self.limit)
        };
        let parked = unit.search_images(&parked).await?;
        for &at in &parked {
            let mut fields = unclaimed();
            fields.push(("error".to_owned(), None));
            fields.push(("parked".to_owned(), Some(false.into())));
            unit.set_derived(OUTBOX, at, fields).await?;
        }
        unit.finish().await?;
        Ok(parked.len())
    }
}
