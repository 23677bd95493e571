//! Which records a worker takes.

use std::collections::BTreeSet;

use bson::{RawBson, RawDocument};

use super::{Record, TargetFields, TargetKey};
use crate::{
    catalog::{Catalog, OUTBOX},
    error::Result,
    maintain::{
        run::Work,
        unit::{Bounds, Unit, id},
    },
    model::{DateTime, ObjectId},
    mql::{Direction, Filter, Sort, Test, key},
    store::{Find, Reader, ReaderExt, Transaction},
};

/// How many records are taken besides, since they ask for what the others ask for.
const ALIKE: usize = 500;

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

/// The records that a worker takes.
#[derive(Default)]
struct Taken {
    records: Vec<RawBson>,
    /// The keys of their `_id`s.
    keys: BTreeSet<Vec<u8>>,
    /// The fields of single documents that they are about.
    targets: BTreeSet<TargetKey>,
    /// The `_id`s of these documents.
    documents: Vec<RawBson>,
}

impl Taken {
    fn take(&mut self, document: &RawDocument) -> Result<()> {
        let target = Record::read(document)?.target;
        if matches!(target.fields, TargetFields::At(_)) && self.targets.insert(target.key()) {
            self.documents.push(target.id);
        }
        self.push(document);
        Ok(())
    }

    /// The other records of the same fields: one refresh is for all of them, so that what many writes have left of one
    /// document is done at once.
    fn alike(&self) -> Option<Find> {
        let of = Filter::Path("id".into(), Test::In(self.documents.clone().into()));
        (!self.documents.is_empty()).then(|| Find {
            collection: OUTBOX.to_owned(),
            filter: is_parked(false).and(of),
            limit: Some((self.records.len() + ALIKE) as u64),
            ..Find::default()
        })
    }

    /// Takes one that [`alike`](Self::alike) finds, unless it is taken, or about something else. Returns whether it does.
    fn take_alike(&mut self, document: &RawDocument) -> Result<bool> {
        let is_alike = self.targets.contains(&Record::read(document)?.target.key());
        Ok(is_alike && self.push(document))
    }

    fn push(&mut self, document: &RawDocument) -> bool {
        let id = id(document);
        let is_new = self.keys.insert(key::of(id));
        if is_new {
            self.records.push(id.into());
        }
        is_new
    }
}

/// The records that are next on a store with a single writer, where nobody claims any.
pub(crate) async fn next_of_all(reader: &dyn Reader, limit: u64) -> Result<Vec<RawBson>> {
    let mut taken = Taken::default();
    let next = next_records(limit);
    reader.find_with(&next, |record| taken.take(record)).await?;
    if let Some(alike) = taken.alike() {
        let take = |record: &RawDocument| taken.take_alike(record);
        reader.find_with(&alike, take).await?;
    }
    Ok(taken.records)
}

/// Claims the next records that no other worker has claimed, and returns them.
#[derive(Debug)]
pub(crate) struct Claim {
    /// The worker.
    pub(crate) by: ObjectId,
    /// How long.
    pub(crate) millis: i64,
    pub(crate) limit: u64,
}

impl Work for Claim {
    type Outcome = Vec<RawBson>;

    fn has_queued(_: &Vec<RawBson>) -> bool {
        false
    }

    async fn apply(
        &self,
        catalog: &Catalog,
        transaction: &mut dyn Transaction,
        with_steps: bool,
    ) -> Result<Vec<RawBson>> {
        let mut unit = Unit::new(catalog, transaction, Bounds::default(), with_steps);
        let now = RawBson::DateTime(unit.time());
        let is_free = Filter::Or(vec![
            Filter::Path("claimed_until".into(), Test::Exists(false)),
            Filter::Path("claimed_until".into(), Test::Lte(now)),
            Filter::Path("claimed_by".into(), Test::Eq(self.by.into())),
        ]);
        let free = |find: Find| Find {
            filter: find.filter.and(is_free.clone()),
            ..find
        };
        let until = DateTime::from_millis(unit.time().timestamp_millis() + self.millis);
        let mut taken = Taken::default();
        let mut claimed = unit.search_images(&free(next_records(self.limit))).await?;
        for &at in &claimed {
            if let Some(record) = unit.document(OUTBOX, at) {
                taken.take(record)?;
            }
        }
        if let Some(alike) = taken.alike() {
            for at in unit.search_images(&free(alike)).await? {
                if let Some(record) = unit.document(OUTBOX, at)
                    && taken.take_alike(record)?
                {
                    claimed.push(at);
                }
            }
        }
        for at in claimed {
            let claim = vec![
                ("claimed_by".to_owned(), Some(self.by.into())),
                ("claimed_until".to_owned(), Some(until.into())),
            ];
            unit.set_derived(OUTBOX, at, claim).await?;
        }
        unit.flush().await?;
        Ok(taken.records)
    }
}
