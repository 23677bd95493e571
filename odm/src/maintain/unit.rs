//! The unit of work: the documents that one write reads and changes.
//!
//! Every step of a write goes through it. Documents are read once: reads by `_id` are answered from the images that the unit
//! holds, and the missing documents are read in one call. Changes are queued by document, merged, and flushed as one batch at the
//! end, when the queue is over its bound, or before a count that the store makes. A search sees the queue. Documents that only a
//! refresh changes are read, computed, flushed and forgotten in chunks, unless a later level reads them.
//!
//! A document that gets a key of a unique index is *held back* until the last flush, so that uniqueness holds at the end. If another
//! document gives the key away and stays, that document is removed before the batch, and inserted again.

mod change;
mod images;
mod pages;
mod read;
mod search;

use std::{
    collections::{BTreeMap, HashMap},
    sync::LazyLock,
};

use bson::{RawBson, RawBsonRef, RawDocument};

pub(crate) use images::Doc;
#[cfg(test)]
pub(super) use images::MOST_HELD;
pub(super) use images::{Digest, Image, Images, Numbers};
pub(super) use pages::DocumentPages;

use odm_mql::{key, path};
use odm_store::{Cost, Find, Locks, Result, Transaction, mutants::chunk};

use super::{
    outbox::Deferral,
    plan::PlanStep,
    policy::Policy,
    remote::unread::{Settled, UnreadUpdates},
    rights::Rights,
    versions::Earlier,
};
use crate::{catalog::Catalog, model::DateTime};

/// How much a unit holds at once. The result does not depend on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// How many changed documents are queued before they are flushed, besides documents that get a key of a unique index.
    pub(super) queue: usize,
    /// How many documents a step reads, computes and flushes at once, where there are many.
    pub(super) chunk: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            queue: 500,
            chunk: chunk(1000),
        }
    }
}

/// The totals of a unit.
pub(crate) struct Totals {
    pub(crate) cost: Cost,
    /// The cost of each step, if it was asked for.
    pub(crate) steps: Vec<PlanStep>,
    /// Whether it has left refreshes to the worker of the outbox.
    pub(crate) has_queued: bool,
}

/// The number of the first step: the write itself. Later steps have greater numbers.
const WRITE_STEP: usize = 1;

/// One write while it runs.
pub(crate) struct Unit<'a> {
    pub(super) catalog: &'a Catalog,
    transaction: &'a mut dyn Transaction,
    pub(super) policy: Policy,
    pub(super) bounds: Bounds,
    /// The rights of the caller.
    pub(super) rights: Rights,
    /// Whether the rules of collections that no model declares are not looked at.
    pub(super) bypasses_rule: bool,
    queued: usize,
    collections: BTreeMap<String, Images>,
    /// The unread updates of the unit.
    pub(super) unread: UnreadUpdates,
    /// The documents whose removal no delete rule has seen yet, in order, by collection and `_id`.
    removed: Vec<(String, RawBson)>,
    /// The refreshes that the unit leaves to the worker of the outbox, or, as a unit of the worker, works off.
    pub(super) outbox: Deferral,
    /// The documents that earlier pages and writes of the same unit have changed.
    pub(super) earlier: Earlier,
    /// The one time of all `$currentDate`s of the write.
    now: bson::DateTime,
    /// The cost of the calls to the store so far.
    cost: Cost,
    /// The number of the current step; the cost and the changed images before it.
    step: usize,
    before_step: (Cost, u64),
    changed_images: u64,
    /// `changed_images` at the start of the current page.
    before_page: u64,
    /// The ended steps with their costs, if these are asked for.
    steps: Option<Vec<PlanStep>>,
    /// The chunked searches, by collection.
    expected: HashMap<String, Find>,
    /// Whether the unit is one of several that are committed together: uniqueness holds at the end of the last one.
    pub(super) is_part: bool,
    /// Whether another of them follows.
    is_followed: bool,
}

/// The documents that units of one commit leave to the last of them: they get keys of unique indexes that other documents may
/// still have.
#[derive(Debug, Default)]
pub(super) struct HeldBack(BTreeMap<String, Images>);

impl HeldBack {
    /// Whether a document is held back: the transaction may not have it yet.
    pub(super) fn has(&self, collection: &str, id: &RawBson) -> bool {
        let images = self.0.get(collection);
        images.is_some_and(|images| {
            let at = images.position(&key::of(id.as_raw_bson_ref()));
            at.is_some_and(|at| images.at(at).now().is_some())
        })
    }
}

impl<'a> Unit<'a> {
    pub(super) fn new(
        catalog: &'a Catalog,
        transaction: &'a mut dyn Transaction,
        policy: Policy,
        bounds: Bounds,
        with_steps: bool,
    ) -> Self {
        Unit {
            catalog,
            transaction,
            policy,
            bounds,
            rights: None,
            bypasses_rule: false,
            queued: 0,
            collections: BTreeMap::new(),
            unread: UnreadUpdates::default(),
            removed: Vec::new(),
            outbox: Deferral::default(),
            earlier: Earlier::default(),
            now: DateTime::now().into(),
            cost: Cost::default(),
            step: WRITE_STEP,
            before_step: (Cost::default(), 0),
            changed_images: 0,
            before_page: 0,
            steps: with_steps.then(Vec::new),
            expected: HashMap::new(),
            is_part: false,
            is_followed: false,
        }
    }

    /// The documents that this write and earlier ones of the same unit have changed, in collections whose writes are recorded.
    pub(super) fn take_earlier(&mut self) -> Result<Earlier> {
        let mut earlier = std::mem::take(&mut self.earlier);
        for (collection, images) in &self.collections {
            earlier.add(self.catalog, collection, images)?;
        }
        Ok(earlier)
    }

    /// Puts the unit after others of the same commit, which have held back these documents.
    pub(super) fn after(mut self, held_back: HeldBack, is_followed: bool) -> Self {
        self.collections = held_back.0;
        self.is_part = true;
        self.is_followed = is_followed;
        self
    }

    /// Takes the documents that are left to the next unit.
    pub(super) fn take_held_back(&mut self) -> HeldBack {
        let collections = std::mem::take(&mut self.collections).into_iter();
        let carried = collections.filter_map(|(name, images)| Some((name, images.carried()?)));
        HeldBack(carried.collect())
    }

    /// Whether a document of the collection is queued, so that a statement to the store would not see its change.
    pub(super) fn has_queued(&self, collection: &str) -> bool {
        self.images(collection).has_queue()
    }

    /// The time of the write.
    pub(super) fn time(&self) -> bson::DateTime {
        self.now
    }

    /// Ends a step, and records its cost, if any. Steps of the same name are recorded as one.
    pub(super) fn end_step(&mut self, name: impl FnOnce() -> String) {
        self.step += 1;
        let Some(steps) = &mut self.steps else {
            return;
        };
        let now = (self.cost, self.changed_images);
        let (start, changed) = std::mem::replace(&mut self.before_step, now);
        let cost = Cost {
            documents_written: self.changed_images - changed,
            ..self.cost - start
        };
        if cost == Cost::default() {
            return;
        }
        let name = name();
        match steps.iter_mut().find(|step| step.name == name) {
            Some(step) => step.cost += cost,
            None => steps.push(PlanStep { name, cost }),
        }
    }

    /// Ends the unit, in which no refresh is left to unread updates.
    pub(super) fn into_totals(self, _: Settled) -> Totals {
        Totals {
            cost: self.cost,
            steps: self.steps.unwrap_or_default(),
            has_queued: self.outbox.has_queued(),
        }
    }

    /// The locks that the unit takes, on a store that is not serializable.
    pub(super) fn locks(&mut self) -> Option<&mut Locks> {
        self.transaction.locks()
    }

    /// Takes the locks that were added, before anything else is read or written.
    pub(super) async fn take_locks(&mut self) -> Result<()> {
        self.transaction.take_locks().await
    }

    /// Whether the unit makes unread updates, which take fewer requests than reads. It reads the documents instead if the cost of
    /// each step is asked for, or if all changes are recorded.
    pub(super) fn has_unread_updates(&mut self) -> bool {
        let reads_all =
            !self.policy.trusts_stored || self.policy.keeps_origin || self.steps.is_some();
        !reads_all && self.transaction.has_unread_updates() && self.transaction.changes().is_none()
    }

    /// Whether the refresh leaves a document out: an unread update refreshes it, or the refresh is limited to other documents.
    pub(super) fn leaves_out(&mut self, collection: &str, id: &RawBson) -> bool {
        let images = self.collections.get(collection);
        let is_held = |key: &[u8]| images.is_some_and(|images| images.position(key).is_some());
        self.unread.leaves_out(collection, id, is_held)
    }

    /// Whether unread updates refresh the copies along a reference in a collection. The unit has changed nothing in the
    /// collection then.
    pub(super) fn leaves_followers(&self, collection: &str) -> bool {
        let images = self.images(collection);
        self.unread.is_left(collection) && !images.has_queue() && images.changed().next().is_none()
    }

    /// Keeps the documents that the write returns, until its end.
    pub(super) fn keep_returned(&mut self, collection: &str, positions: &[usize]) {
        let images = self.images_mut(collection);
        positions.iter().for_each(|&at| images.keep_returned(at));
    }

    /// The documents of a collection that the unit holds.
    pub(super) fn images(&self, collection: &str) -> &Images {
        static NONE: LazyLock<Images> = LazyLock::new(Images::default);
        self.collections.get(collection).unwrap_or(&NONE)
    }

    fn images_mut(&mut self, collection: &str) -> &mut Images {
        if !self.collections.contains_key(collection) {
            let images = Images::default();
            self.collections.insert(collection.to_owned(), images);
        }
        self.collections
            .get_mut(collection)
            .expect("the collection was inserted above")
    }

    /// The collections with documents that the unit holds.
    pub(super) fn collections(&self) -> impl Iterator<Item = &str> {
        self.collections.keys().map(String::as_str)
    }

    /// The documents that were removed since the last call.
    pub(super) fn take_removed(&mut self) -> Vec<(String, RawBson)> {
        std::mem::take(&mut self.removed)
    }

    /// Whether the unit has changed so many documents that it should end the page.
    pub(super) fn is_page_full(&self) -> bool {
        self.changed_images - self.before_page >= 2 * self.bounds.chunk as u64
    }

    /// A document as it is now, if the unit holds it and it exists.
    pub(super) fn document(&self, collection: &str, at: usize) -> Option<&Doc> {
        self.images(collection).at(at).now()
    }
}

/// The `_id` of a document.
pub(super) fn id(document: &RawDocument) -> RawBsonRef<'_> {
    path::get(document, "_id").unwrap_or(RawBsonRef::Null)
}
