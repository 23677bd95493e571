//! The unit of work: what one write holds of the documents that it reads and changes.
//!
//! Every step of a write goes through this. Documents are read once: reads by `_id` are answered
//! from what the unit holds already, and the missing ones are asked for in one call. Changes are
//! queued by document, merged, and flushed as one batch at the end, or when the queue is over its
//! bound. A search sees the queue.

mod blind;
mod change;
mod images;
mod locks;
mod pages;
mod read;
mod search;

use std::collections::{BTreeMap, HashMap};

use bson::{RawBson, RawBsonRef, RawDocument};

pub(super) use blind::DocumentKey;
pub(crate) use images::Doc;
pub(super) use images::{Image, Images, Numbers};
pub(super) use pages::DocumentPages;

use odm_mql::{key, path};
use odm_store::{Cost, Find, Result, Transaction, mutants::chunk};

use super::{outbox::Deferral, plan::PlanStep, versions::Earlier};
use crate::{catalog::Catalog, model::DateTime};

/// How much a unit holds at once. The result does not depend on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// How many changed documents are queued before they are flushed, besides those that get a key of a unique index.
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

/// The number of the first step: the write itself. What follows has greater ones.
const WRITE_STEP: usize = 1;

/// One write while it runs.
pub(super) struct Unit<'a> {
    pub(super) catalog: &'a Catalog,
    transaction: &'a mut dyn Transaction,
    pub(super) bounds: Bounds,
    queued: usize,
    collections: BTreeMap<String, Images>,
    /// The updates of documents that it does not hold.
    blind: blind::Blind,
    /// The documents that were removed, in order, by collection and `_id`.
    removed: Vec<(String, RawBson)>,
    /// The unit is a repair: nothing that is stored is taken for right.
    pub(super) repairs: bool,
    /// The unit is an import: its new documents were stored elsewhere before.
    pub(super) imports: bool,
    /// What it leaves to the worker of the outbox, or works off as one of its units.
    pub(super) outbox: Deferral,
    /// What earlier writes of the same unit have changed.
    pub(super) earlier: Earlier,
    /// The one time of all `$currentDate`s of the write.
    now: bson::DateTime,
    /// What the calls to the store have touched.
    cost: Cost,
    /// The number of the current step, with the cost and the changed images before it.
    step: usize,
    before_step: (Cost, u64),
    changed_images: u64,
    /// What the steps touched, if it is asked for.
    steps: Option<Vec<PlanStep>>,
    /// The chunked searches, by collection.
    expected: HashMap<String, Find>,
    /// The unit is one of several that are committed together, and over which uniqueness holds only at their end.
    pub(super) is_part: bool,
    /// Another one of them follows.
    is_followed: bool,
}

/// What units that are committed together leave to the last one of them: the documents that get keys of unique indexes, which
/// others may still have.
#[derive(Debug, Default)]
pub(super) struct HeldBack(BTreeMap<String, Images>);

impl HeldBack {
    /// Whether it has a document, which the transaction may not have yet.
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
        bounds: Bounds,
        with_steps: bool,
    ) -> Self {
        Unit {
            catalog,
            transaction,
            bounds,
            queued: 0,
            collections: BTreeMap::new(),
            blind: blind::Blind::default(),
            removed: Vec::new(),
            repairs: false,
            imports: false,
            outbox: Deferral::default(),
            earlier: Earlier::default(),
            now: DateTime::now().into(),
            cost: Cost::default(),
            step: WRITE_STEP,
            before_step: (Cost::default(), 0),
            changed_images: 0,
            steps: with_steps.then(Vec::new),
            expected: HashMap::new(),
            is_part: false,
            is_followed: false,
        }
    }

    /// What this write and earlier ones of the same unit have changed, of documents whose writes are recorded.
    pub(super) fn take_earlier(&mut self) -> Earlier {
        let mut earlier = std::mem::take(&mut self.earlier);
        for (collection, images) in &self.collections {
            if self.catalog.write_fields(collection).is_some() {
                images.each(|key, image| earlier.add(collection, key, image));
            }
        }
        earlier
    }

    /// Makes it one of several units that are committed together: after others, which have held back these documents.
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

    /// Whether a statement to the store would not do the same as changes of the unit: one of the documents of the collection is
    /// queued.
    pub(super) fn has_queued(&self, collection: &str) -> bool {
        self.images(collection).has_queue()
    }

    /// The time of the write.
    pub(super) fn time(&self) -> bson::DateTime {
        self.now
    }

    /// Ends a step, and records what it touched, if anything. Steps of one name are one.
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

    /// Ends the unit. Returns what it touched, by its steps and as a whole.
    ///
    /// # Errors
    ///
    /// `TransactionAborted` if a document is still left to a blind update.
    pub(super) fn into_cost(self) -> Result<(Vec<PlanStep>, Cost)> {
        self.check_none_left()?;
        Ok((self.steps.unwrap_or_default(), self.cost))
    }

    /// Keeps the documents that the write returns, until its end.
    pub(super) fn keep_returned(&mut self, collection: &str, positions: &[usize]) {
        let images = self.images_mut(collection);
        positions.iter().for_each(|&at| images.keep_returned(at));
    }

    /// The documents of a collection that the unit holds.
    pub(super) fn images(&self, collection: &str) -> &Images {
        static NONE: Images = Images::EMPTY;
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

    /// The collections of which the unit holds documents.
    pub(super) fn collections(&self) -> impl Iterator<Item = &str> {
        self.collections.keys().map(String::as_str)
    }

    /// The documents that were removed since there were `known` of them.
    pub(super) fn removed_since(&self, known: usize) -> &[(String, RawBson)] {
        &self.removed[known..]
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
