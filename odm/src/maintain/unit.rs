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

use super::{outbox::Deferral, plan::Step};
use crate::{
    catalog::Catalog,
    model::DateTime,
    mql::path,
    store::{Cost, Find, Transaction},
};

/// How much a unit holds at once. Unless documents exchange the values of a unique index, which they
/// can in one batch only, the result does not depend on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// How many changed documents are queued before they are flushed.
    pub(super) queue: usize,
    /// How many documents a step reads, computes and flushes at once, where there are many.
    pub(super) chunk: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            queue: 500,
            chunk: 1000,
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
    /// The one time of all `$currentDate`s of the write.
    now: bson::DateTime,
    /// What the calls to the store have touched.
    cost: Cost,
    /// The number of the current step, with the cost and the changed images before it.
    step: usize,
    before_step: (Cost, u64),
    changed_images: u64,
    /// What the steps touched, if it is asked for.
    steps: Option<Vec<Step>>,
    /// The chunked searches, by collection.
    expected: HashMap<String, Find>,
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
            now: DateTime::now().into(),
            cost: Cost::default(),
            step: WRITE_STEP,
            before_step: (Cost::default(), 0),
            changed_images: 0,
            steps: with_steps.then(Vec::new),
            expected: HashMap::new(),
        }
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
            None => steps.push(Step { name, cost }),
        }
    }

    /// Returns what the unit touched, by its steps and as a whole.
    pub(super) fn into_cost(self) -> (Vec<Step>, Cost) {
        debug_assert!(self.blind.is_done(), "documents are left wrong");
        (self.steps.unwrap_or_default(), self.cost)
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
