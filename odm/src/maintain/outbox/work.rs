//! The units of the worker.

use std::collections::{BTreeMap, HashMap, HashSet};

use bson::{RawBson, RawDocument, RawDocumentBuf, raw::cstr};
use odm_mql::{Direction, Filter, Sort, Test};
use odm_store::{Cost, Error, Find, Reader, ReaderExt, Result, mutants::mutant};

use super::{Due, Record, Target, TargetFields, TargetKey};
use crate::{
    catalog::{Catalog, DerivedField, OUTBOX},
    maintain::{
        pipeline::Work,
        places::FieldValues,
        policy::Policy,
        unit::{Totals, Unit, id},
    },
};

/// Why a document could not be refreshed.
#[derive(Debug)]
pub(crate) struct RefreshError {
    kind: String,
    message: String,
}

impl RefreshError {
    pub(crate) fn new(error: &Error) -> Self {
        RefreshError {
            kind: format!("{:?}", error.kind()),
            message: error.to_string(),
        }
    }
}

/// A unit of the worker: works off records, up to a number of documents.
#[derive(Debug)]
pub(crate) struct Batch {
    /// The records, in the order in which they are worked off. Records that are gone by now are left out.
    pub(crate) records: Vec<RawBson>,
    /// The greatest number of documents to refresh.
    pub(crate) limit: usize,
    /// The error of the first document to refresh, which is left out: its record gets the error.
    pub(crate) failed: Option<RefreshError>,
    /// The targets to lock before anything is read, so that other units lose conflicts to this unit, and it loses no conflict to
    /// them.
    locked_first: Vec<Target>,
}

/// The result of a batch.
#[derive(Debug, Default)]
pub(crate) struct BatchResult {
    /// The cost of the unit.
    pub(crate) cost: Cost,
    /// How many documents were refreshed or left out.
    pub(crate) documents: usize,
    /// How many records are done.
    pub(crate) done: usize,
    /// How many refreshes have failed.
    pub(crate) failed: usize,
    /// The records with documents left to refresh.
    pub(crate) left: Vec<RawBson>,
    has_queued: bool,
}

/// The records of one target that are worked off together.
struct Group {
    target: Target,
    after: Option<RawBson>,
    records: Vec<RawBson>,
    /// The time of the newest record.
    newest: bson::DateTime,
}

/// The state of a target's records after the unit.
enum Fate {
    /// Nothing is left to refresh.
    Done,
    /// The next unit goes on after this document.
    After(RawBson),
    /// The unit has not begun it.
    Left,
}

/// The progress of a batch.
#[derive(Default)]
pub(crate) struct BatchProgress {
    /// The targets, each with the fate of its records.
    groups: Vec<(Group, Fate)>,
    /// The target whose refresh has failed before.
    failed: Option<usize>,
    result: BatchResult,
}

impl Work for Batch {
    type Progress = BatchProgress;
    type Outcome = BatchResult;

    fn policy(&self) -> Policy {
        Policy::CHANGE
    }

    /// All later changes of the unit are consequences of the records.
    fn step(&self) -> String {
        "deferred refreshes".to_owned()
    }

    async fn change(&self, unit: &mut Unit<'_>, progress: &mut BatchProgress) -> Result<bool> {
        if !self.locked_first.is_empty() {
            for target in &self.locked_first {
                unit.lock(target, true);
            }
            unit.take_locks().await?;
        }
        let RecordGroups {
            groups,
            since,
            left,
        } = groups(unit, &self.records).await?;
        unit.outbox.since = since;
        progress.result.left = left;
        let mut documents_left = self.limit;
        for (at, group) in groups.into_iter().enumerate() {
            if documents_left == 0 {
                progress.groups.push((group, Fate::Left));
                continue;
            }
            let (documents, has_more) = next_documents(unit, &group, documents_left).await?;
            documents_left -= documents.len();
            let fate = match documents.last() {
                Some(last) if has_more && !mutant("rest of a refresh") => Fate::After(last.clone()),
                _ => Fate::Done,
            };
            if !documents.is_empty() {
                if self.failed.is_some() {
                    progress.failed = Some(at);
                } else {
                    unit.outbox.due.push(Due {
                        target: group.target.clone(),
                        documents,
                    });
                }
            }
            progress.groups.push((group, fate));
        }
        progress.result.documents = self.limit - documents_left;
        Ok(false)
    }

    fn changed<'p>(&'p self, _: &'p BatchProgress) -> Vec<(&'p str, &'p [usize])> {
        Vec::new()
    }

    async fn settle(&self, unit: &mut Unit<'_>, progress: &mut BatchProgress) -> Result<()> {
        let mut right = HashMap::new();
        let groups = std::mem::take(&mut progress.groups);
        for (at, (group, fate)) in groups.into_iter().enumerate() {
            let failed = self.failed.as_ref().filter(|_| progress.failed == Some(at));
            if end(unit, group.records, fate, failed, &mut progress.result).await? {
                right.insert(group.target.key(), (group.target.id, group.newest));
            }
        }
        forget_failed(unit, right).await
    }

    fn outcome(BatchProgress { result, .. }: BatchProgress, totals: Totals) -> BatchResult {
        BatchResult {
            cost: totals.cost,
            has_queued: totals.has_queued,
            ..result
        }
    }

    fn has_queued(worked: &BatchResult) -> bool {
        worked.has_queued
    }
}

/// The records that one unit can work off together: records of one level of derived fields, since the records that the unit leaves get the
/// oldest time. Records of lists of ancestors leave others of their own level, so theirs also have one time.
type RecordTurn = (usize, Option<bson::DateTime>);

/// The first level of the derived fields that records of a target refresh, and whether these leave records of the same level.
struct Levels(BTreeMap<(String, TargetFields), (usize, bool)>);

impl Levels {
    fn new(catalog: &Catalog) -> Self {
        let mut levels = BTreeMap::new();
        for (level, fields) in catalog.levels().enumerate() {
            for ordered in fields {
                let of = (
                    ordered.field.holder().to_owned(),
                    TargetFields::of(ordered.field),
                );
                let is_tree = matches!(
                    ordered.field,
                    DerivedField::Ancestors(field) if field.is_of_tree()
                );
                levels.entry(of).or_insert((level, false)).1 |= is_tree;
            }
        }
        Levels(levels)
    }

    /// The turn of a record. A field that the models no longer have is in the first level.
    fn turn(&self, Record { target, at, .. }: &Record) -> RecordTurn {
        let of = (target.holder.clone(), target.fields.clone());
        let (level, is_tree) = self.0.get(&of).copied().unwrap_or_default();
        (level, is_tree.then_some(*at))
    }
}

/// The records of a unit.
struct RecordGroups {
    /// The records in the turn of the first record, by target, in their order. If a record of a target has begun, the records
    /// that have not begun wait until it is done.
    groups: Vec<Group>,
    /// The time of the oldest record.
    since: Option<bson::DateTime>,
    /// The records of no group.
    left: Vec<RawBson>,
}

async fn groups(unit: &mut Unit<'_>, ids: &[RawBson]) -> Result<RecordGroups> {
    let mut all: Vec<(RawBson, Record)> = Vec::new();
    for at in unit.load_existing(OUTBOX, ids).await? {
        if let Some(document) = unit.document(OUTBOX, at) {
            all.push((id(document).into(), Record::read(document)?));
        }
    }
    all.retain(|(_, record)| !record.failed);
    let levels = Levels::new(unit.catalog);
    let turn = all.first().map(|(_, first)| levels.turn(first));
    let begun = all.iter().filter(|(_, record)| record.after.is_some());
    let begun: HashSet<TargetKey> = begun.map(|(_, record)| record.target.key()).collect();
    let mut groups: Vec<Group> = Vec::new();
    let mut positions: HashMap<TargetKey, usize> = HashMap::new();
    let mut since: Option<bson::DateTime> = None;
    let mut left = Vec::new();
    for (id, record) in all {
        let key = record.target.key();
        let waits = record.after.is_none() && begun.contains(&key);
        if waits || Some(levels.turn(&record)) != turn {
            left.push(id);
            continue;
        }
        let Record {
            target, at, after, ..
        } = record;
        since = Some(since.map_or(at, |since| since.min(at)));
        match positions.get(&key) {
            Some(&position) => {
                let group = &mut groups[position];
                // Two workers may have begun at different times: a refresh from the earlier position completes both records.
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
    Ok(RecordGroups {
        groups,
        since,
        left,
    })
}

/// The earlier of two positions.
fn earlier(one: Option<RawBson>, other: Option<RawBson>) -> Option<RawBson> {
    let (one, other) = one.zip(other)?;
    let order = odm_mql::order::compare(one.as_raw_bson_ref(), other.as_raw_bson_ref());
    Some(if order.is_le() { one } else { other })
}

/// The next documents of a target, at most `limit`, and whether there are more.
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
            let mut along = derived.filter_map(DerivedField::along);
            let Some((_, source)) = along.find(|(path, _)| path == reference) else {
                return Ok((Vec::new(), false));
            };
            let referred = (source, vec![id.clone()]);
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

/// Stores the fate of a target in its records. Returns whether all documents of the target are right now.
async fn end(
    unit: &mut Unit<'_>,
    records: Vec<RawBson>,
    fate: Fate,
    failed: Option<&RefreshError>,
    worked: &mut BatchResult,
) -> Result<bool> {
    let mut is_right = matches!(fate, Fate::Done);
    // A flush of many new records may have forgotten the images.
    for at in unit.load_existing(OUTBOX, &records).await? {
        let Some(document) = unit.document(OUTBOX, at) else {
            continue;
        };
        let has_failed = failed.is_some() || Record::read(document)?.error.is_some();
        is_right &= !has_failed;
        let mut fields = FieldValues::new();
        if let Some(RefreshError { kind, message }) = failed {
            let mut error = RawDocumentBuf::new();
            error.append(cstr!("kind"), kind.as_str());
            error.append(cstr!("message"), message.as_str());
            fields.push(("error".to_owned(), Some(error.into())));
        }
        match &fate {
            Fate::Done if has_failed => {
                worked.failed += 1;
                fields.push(("parked".to_owned(), Some(true.into())));
                fields.push(("after".to_owned(), None));
            }
            Fate::Done => {
                worked.done += 1;
                unit.remove(OUTBOX, at).await?;
                continue;
            }
            Fate::After(last) => {
                worked.left.push(id(document).into());
                fields.push(("after".to_owned(), Some(last.clone())));
            }
            Fate::Left => worked.left.push(id(document).into()),
        }
        if !fields.is_empty() {
            unit.set_derived(OUTBOX, at, fields).await?;
        }
    }
    Ok(is_right)
}

/// Removes the failed refreshes of targets that are right now, except records that are newer than the records worked off.
async fn forget_failed(
    unit: &mut Unit<'_>,
    right: HashMap<TargetKey, (RawBson, bson::DateTime)>,
) -> Result<()> {
    if right.is_empty() {
        return Ok(());
    }
    let ids: Vec<RawBson> = right.values().map(|(id, _)| id.clone()).collect();
    let failed = Find {
        collection: OUTBOX.to_owned(),
        filter: is_failed(true).and(Filter::Path("id".into(), Test::In(ids.into()))),
        ..Find::default()
    };
    for at in unit.search_images(&failed).await? {
        let Some(document) = unit.document(OUTBOX, at) else {
            continue;
        };
        let record = Record::read(document)?;
        let newest = right.get(&record.target.key());
        if record.failed && newest.is_some_and(|(_, newest)| record.at <= *newest) {
            unit.remove(OUTBOX, at).await?;
        }
    }
    Ok(())
}

/// The records that are worked off next, oldest first.
pub(super) fn next_records(limit: u64) -> Find {
    Find {
        collection: OUTBOX.to_owned(),
        filter: is_failed(false),
        sort: Sort::new().by("at", Direction::Ascending),
        limit: Some(limit),
        ..Find::default()
    }
}

pub(super) fn is_failed(failed: bool) -> Filter {
    Filter::Path("parked".into(), Test::Eq(failed.into()))
}

/// Records that wait, oldest first, as they were read.
#[derive(Default)]
pub(crate) struct Waiting(Vec<WaitingRecord>);

struct WaitingRecord {
    id: RawBson,
    target: Target,
    key: TargetKey,
    turn: RecordTurn,
}

impl Waiting {
    /// Reads the oldest records, at most `limit`.
    pub(crate) async fn read(reader: &dyn Reader, catalog: &Catalog, limit: u64) -> Result<Self> {
        let levels = Levels::new(catalog);
        let waiting = |record: &RawDocument| {
            let read = Record::read(record)?;
            Ok(WaitingRecord {
                id: id(record).into(),
                turn: levels.turn(&read),
                key: read.target.key(),
                target: read.target,
            })
        };
        let (waiting, _) = reader.find_with(&next_records(limit), waiting).await?;
        Ok(Waiting(waiting))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next unit: all records of at most `documents` targets, since one refresh serves all records of a target. `begin` is
    /// the place of the first record, from 0 for the oldest to 1, excluded; after the newest record follows the oldest.
    pub(crate) fn next(&self, documents: usize, begin: f64, locks_first: bool) -> Batch {
        let (later, first) = self.0.split_at((self.0.len() as f64 * begin) as usize);
        let turn = first.first().map(|first| first.turn);
        let mut targets: BTreeMap<&TargetKey, &Target> = BTreeMap::new();
        let of_unit = first.iter().chain(later).filter(|waiting| {
            let has_place = targets.len() < documents || targets.contains_key(&waiting.key);
            let is_of_unit = has_place && Some(waiting.turn) == turn;
            if is_of_unit {
                targets.insert(&waiting.key, &waiting.target);
            }
            is_of_unit
        });
        let records = of_unit.map(|waiting| waiting.id.clone()).collect();
        let locked_first = targets.into_values().filter(|_| locks_first);
        Batch {
            records,
            limit: documents,
            failed: None,
            locked_first: locked_first.cloned().collect(),
        }
    }

    /// Forgets the records of a unit that has ended, except the records that it has left.
    pub(crate) fn forget(&mut self, of_unit: &[RawBson], left: &[RawBson]) {
        self.0
            .retain(|waiting| !of_unit.contains(&waiting.id) || left.contains(&waiting.id));
    }
}

/// Makes failed refreshes wait again, from their first documents on. Returns their number.
#[derive(Debug)]
pub(crate) struct Retry {
    pub(crate) limit: u64,
}

impl Work for Retry {
    type Progress = usize;
    type Outcome = usize;

    fn policy(&self) -> Policy {
        Policy::CHANGE
    }

    fn step(&self) -> String {
        "failed refreshes".to_owned()
    }

    async fn change(&self, unit: &mut Unit<'_>, retried: &mut usize) -> Result<bool> {
        let failed = Find {
            filter: is_failed(true),
            ..next_records(self.limit)
        };
        let failed = unit.search_images(&failed).await?;
        for &at in &failed {
            let fields = vec![
                ("error".to_owned(), None),
                ("parked".to_owned(), Some(false.into())),
            ];
            unit.set_derived(OUTBOX, at, fields).await?;
        }
        *retried = failed.len();
        Ok(false)
    }

    fn changed<'p>(&'p self, _: &'p usize) -> Vec<(&'p str, &'p [usize])> {
        Vec::new()
    }

    fn outcome(retried: usize, _: Totals) -> usize {
        retried
    }

    fn has_queued(retried: &usize) -> bool {
        *retried > 0
    }
}
