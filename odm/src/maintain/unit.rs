//! The unit of work: what one write holds of the documents that it reads and changes.
//!
//! Every step of a write goes through this. Documents are read once: reads by `_id` are answered
//! from what the unit holds already, and the missing ones are asked for in one call. Changes are
//! queued by document, merged, and flushed as one batch at the end, or when the queue is over its
//! bound. A search sees the queue.

mod images;
mod pages;
mod search;

use std::collections::{BTreeMap, HashMap, HashSet};

use async_trait::async_trait;
use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

pub(super) use images::{Doc, Image, Images, Numbers};
pub(super) use pages::Pages;
pub(super) use search::find_where;

use super::{
    derived::Lookup,
    places::{Fields, changes},
    plan::Step,
    versions,
};
use crate::{
    catalog::Catalog,
    error::{Error, ErrorKind, Result},
    model::DateTime,
    mql::{self, key, path},
    store::{
        CollectionWrites, Cost, DeleteWrite, Deleted, DocumentWrite, Find, FindByKey, ReaderExt,
        Transaction, UpdateWrite, Updated, id_first,
    },
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

/// One write while it runs.
pub(super) struct Unit<'a> {
    pub(super) catalog: &'a Catalog,
    transaction: &'a mut dyn Transaction,
    pub(super) bounds: Bounds,
    queued: usize,
    collections: BTreeMap<String, Images>,
    /// The documents that were removed, in order, by collection and `_id`.
    removed: Vec<(String, RawBson)>,
    /// The unit is a repair: nothing that is stored is taken for right.
    pub(super) repairs: bool,
    /// The one time of all `$currentDate`s of the write.
    now: bson::DateTime,
    /// What the calls to the store have touched.
    cost: Cost,
    /// The number of the current step, from 1, with the cost and the changed images before it.
    step: usize,
    before_step: (Cost, u64),
    changed_images: u64,
    steps: Vec<Step>,
    /// How many documents a chunked search will find, by collection.
    expected: HashMap<String, u64>,
}

impl<'a> Unit<'a> {
    pub(super) fn new(
        catalog: &'a Catalog,
        transaction: &'a mut dyn Transaction,
        bounds: Bounds,
    ) -> Self {
        Unit {
            catalog,
            transaction,
            bounds,
            queued: 0,
            collections: BTreeMap::new(),
            removed: Vec::new(),
            repairs: false,
            now: DateTime::now().into(),
            cost: Cost::default(),
            step: 1,
            before_step: (Cost::default(), 0),
            changed_images: 0,
            steps: Vec::new(),
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
        match self.steps.iter_mut().find(|step| step.name == name) {
            Some(step) => step.cost += cost,
            None => self.steps.push(Step { name, cost }),
        }
    }

    /// Returns what the unit touched, by its steps and as a whole.
    pub(super) fn into_cost(self) -> (Vec<Step>, Cost) {
        (self.steps, self.cost)
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

/// Reads by `_id`.
impl Unit<'_> {
    /// Reads those documents that the unit does not hold yet, in one call. Returns the positions of
    /// all, each once, those of `_id`s that no document has included.
    pub(super) async fn load(&mut self, collection: &str, ids: &[RawBson]) -> Result<Vec<usize>> {
        let keys: Vec<Vec<u8>> = ids.iter().map(|id| key::of(id.as_raw_bson_ref())).collect();
        let images = self.images(collection);
        let mut asked = HashSet::new();
        let mut missing = Vec::new();
        for (id, key) in ids.iter().zip(&keys) {
            if images.position(key).is_none() && asked.insert(key) {
                missing.push(id.clone());
            }
        }
        if !missing.is_empty() {
            let (found, cost) = self.transaction.get_all(collection, &missing).await?;
            self.cost += cost;
            let images = self.images_mut(collection);
            for document in found {
                images.remember(Doc::new(document));
            }
        }
        let images = self.images_mut(collection);
        let mut seen = HashSet::new();
        let positions = keys.into_iter().map(|key| images.position_or_absent(key));
        Ok(positions.filter(|at| seen.insert(*at)).collect())
    }

    /// Reads documents, and returns the positions of those that exist.
    pub(super) async fn load_existing(
        &mut self,
        collection: &str,
        ids: &[RawBson],
    ) -> Result<Vec<usize>> {
        let mut positions = self.load(collection, ids).await?;
        let images = self.images(collection);
        positions.retain(|&at| images.at(at).now().is_some());
        Ok(positions)
    }

    /// Tells of each `_id` whether a document has it, without reading those that exist into the unit.
    pub(super) async fn exist(&mut self, collection: &str, ids: &[RawBson]) -> Result<Vec<bool>> {
        let images = self.images(collection);
        let mut exist = vec![false; ids.len()];
        let (mut unknown, mut places) = (Vec::new(), Vec::new());
        for (place, id) in ids.iter().enumerate() {
            match images.position(&key::of(id.as_raw_bson_ref())) {
                Some(at) => exist[place] = images.at(at).now().is_some(),
                None => {
                    unknown.push(id.clone());
                    places.push(place);
                }
            }
        }
        if !unknown.is_empty() {
            let (found, cost) = self.transaction.exist(collection, &unknown).await?;
            self.cost += cost;
            for (place, found) in places.into_iter().zip(found) {
                exist[place] = found;
            }
        }
        Ok(exist)
    }
}

/// The numbers of a unit that is too large.
impl Unit<'_> {
    /// Counts the documents that a search will find page by page, so that an error can say it.
    pub(super) async fn expect_followers(&mut self, find: &Find) -> Result<()> {
        let (number, cost) = self.transaction.count(find).await?;
        self.cost += cost;
        self.expected.insert(find.collection.clone(), number);
        Ok(())
    }

    /// Adds to an error of a limit how many documents of which collections the unit changes.
    fn with_numbers(&self, error: Error) -> Error {
        if error.kind() != ErrorKind::Limit {
            return error;
        }
        let numbers = self.collections.iter().filter_map(|(collection, images)| {
            let numbers = images.numbers();
            let known = numbers.inserted + numbers.changed + numbers.removed;
            let expected = self.expected.get(collection).copied();
            let number = known.max(expected.unwrap_or_default());
            (number > 0).then(|| format!("{number} documents of `{collection}`"))
        });
        let numbers: Vec<String> = numbers.collect();
        let message = format!("{error}; it changes {}", numbers.join(", "));
        Error::new(ErrorKind::Limit, message).with_source(error)
    }
}

/// Changes.
impl Unit<'_> {
    /// Queues a new document, and returns its position.
    ///
    /// # Errors
    ///
    /// `DuplicateKey` if the unit knows that the `_id` is taken; else the flush finds it.
    pub(super) async fn insert(
        &mut self,
        collection: &str,
        document: &RawDocument,
    ) -> Result<usize> {
        let id = path::get(document, "_id");
        let id = id.ok_or_else(|| without_id(collection))?;
        let document = match id_first(document, id) {
            Some(reordered) => reordered,
            None => document.to_owned(),
        };
        let at = self.images_mut(collection).position_or_absent(key::of(id));
        let image = self.images(collection).at(at);
        if image.now().is_some() {
            return Err(Error::duplicate_id(collection, id));
        }
        let document = versions::versioned(self.catalog, collection, image, document)?;
        self.queue(collection, at, Some(document), true).await?;
        Ok(at)
    }

    /// Queues a change of base data: of the user's, or an effect of one. The version of the document
    /// counts the change. Returns whether anything is different.
    pub(super) async fn change(
        &mut self,
        collection: &str,
        at: usize,
        after: RawDocumentBuf,
    ) -> Result<bool> {
        let image = self.images(collection).at(at);
        let Some(now) = image.now() else {
            return Ok(false);
        };
        let id = id(now);
        if path::get(&after, "_id").is_none_or(|after| key::of(after) != key::of(id)) {
            let error = Error::from(mql::Error::Immutable("_id".to_owned()));
            return Err(error.at(collection, Some("_id"), Some(id.into())));
        }
        let after = id_first(&after, id).unwrap_or(after);
        if after.as_bytes() == now.as_bytes() {
            return Ok(false);
        }
        let after = versions::versioned(self.catalog, collection, image, after)?;
        self.queue(collection, at, Some(after), true).await?;
        Ok(true)
    }

    /// Queues a change of fields that are base data.
    pub(super) async fn set(
        &mut self,
        collection: &str,
        at: usize,
        fields: Fields,
    ) -> Result<bool> {
        match self.with_fields(collection, at, fields)? {
            Some(after) => self.change(collection, at, after).await,
            None => Ok(false),
        }
    }

    /// Queues a change of derived fields, which no version counts.
    pub(super) async fn set_derived(
        &mut self,
        collection: &str,
        at: usize,
        fields: Fields,
    ) -> Result<()> {
        if let Some(after) = self.with_fields(collection, at, fields)? {
            self.queue(collection, at, Some(after), false).await?;
        }
        Ok(())
    }

    fn with_fields(
        &self,
        collection: &str,
        at: usize,
        fields: Fields,
    ) -> Result<Option<RawDocumentBuf>> {
        let Some(now) = self.images(collection).at(at).now() else {
            return Ok(None);
        };
        let update = changes(fields);
        if update.is_empty() {
            return Ok(None);
        }
        Ok(update.apply(now, false, self.now)?)
    }

    /// Records that the cold part of a document changed, which its version counts.
    pub(super) async fn touch(&mut self, collection: &str, at: usize) -> Result<()> {
        self.images_mut(collection).touch(at);
        let image = self.images(collection).at(at);
        if let (Some(_), Some(now)) = (self.catalog.version(collection), image.now()) {
            let now = RawDocumentBuf::clone(now);
            let after = versions::versioned(self.catalog, collection, image, now)?;
            self.queue(collection, at, Some(after), true).await?;
        }
        Ok(())
    }

    /// Queues the removal of a document that exists.
    pub(super) async fn remove(&mut self, collection: &str, at: usize) -> Result<()> {
        if let Some(now) = self.images(collection).at(at).now() {
            let id = RawBson::from(id(now));
            self.removed.push((collection.to_owned(), id));
            self.queue(collection, at, None, true).await?;
        }
        Ok(())
    }

    async fn queue(
        &mut self,
        collection: &str,
        at: usize,
        now: Option<RawDocumentBuf>,
        is_base: bool,
    ) -> Result<()> {
        let (step, now) = (self.step, now.map(Doc::new));
        let (is_queued, is_counted) = self.images_mut(collection).queue(at, now, is_base, step);
        self.queued += usize::from(is_queued);
        self.changed_images += u64::from(is_counted);
        if self.queued > self.bounds.queue {
            self.flush().await?;
        }
        Ok(())
    }

    /// Writes the queue as one batch.
    pub(super) async fn flush(&mut self) -> Result<()> {
        if self.queued == 0 {
            return Ok(());
        }
        let mut batch = Vec::new();
        for (collection, images) in &self.collections {
            let writes: Vec<DocumentWrite<'_>> = images.writes().collect();
            if !writes.is_empty() {
                batch.push(CollectionWrites { collection, writes });
            }
        }
        if !batch.is_empty() {
            let applied = self.transaction.apply(&batch).await;
            self.cost += applied.map_err(|error| self.with_numbers(error))?;
        }
        for images in self.collections.values_mut() {
            images.flushed();
        }
        self.queued = 0;
        Ok(())
    }

    /// Flushes a chunk of refreshed documents, and forgets those that nothing reads later.
    pub(super) async fn end_chunk(&mut self, collection: &str, is_read_later: bool) -> Result<()> {
        self.flush().await?;
        self.images_mut(collection).forget(is_read_later);
        Ok(())
    }

    /// Forgets the documents of a collection, changed ones included, after a flush.
    pub(super) async fn forget_all(&mut self, collection: &str) -> Result<()> {
        self.flush().await?;
        self.images_mut(collection).forget_all();
        Ok(())
    }
}

/// Writes from which nothing follows: they go to the store as they are.
impl Unit<'_> {
    pub(super) async fn update_where(&mut self, write: &UpdateWrite) -> Result<Updated> {
        let updated = self.transaction.update(write).await?;
        self.cost += updated.cost;
        let numbers = Numbers {
            inserted: updated.inserted.into(),
            changed: updated.modified,
            removed: 0,
        };
        self.changed_images += numbers.inserted + numbers.changed;
        self.images_mut(&write.collection).count_unseen(numbers);
        Ok(updated)
    }

    pub(super) async fn delete_where(&mut self, write: &DeleteWrite) -> Result<Deleted> {
        let deleted = self.transaction.delete(write).await?;
        self.cost += deleted.cost;
        let numbers = Numbers {
            removed: deleted.removed,
            ..Numbers::NONE
        };
        self.changed_images += numbers.removed;
        self.images_mut(&write.collection).count_unseen(numbers);
        Ok(deleted)
    }
}

#[async_trait]
impl Lookup for Unit<'_> {
    async fn get(&mut self, collection: &str, ids: Vec<RawBson>) -> Result<HashMap<Vec<u8>, Doc>> {
        let positions = self.load_existing(collection, &ids).await?;
        let images = self.images(collection);
        let found = positions.into_iter().filter_map(|at| {
            let document = images.at(at).now()?;
            Some((key::of(id(document)), document.clone()))
        });
        Ok(found.collect())
    }

    async fn find_by_key(&mut self, find: &FindByKey) -> Result<Vec<Vec<Doc>>> {
        self.search_by_key(find).await
    }

    async fn count_by_key(&mut self, find: &FindByKey) -> Result<Vec<u64>> {
        // A number cannot be corrected by the queue without the stored images.
        if self.images(&find.find.collection).has_queue() {
            self.flush().await?;
        }
        let (numbers, cost) = self.transaction.count_by_key(find).await?;
        self.cost += cost;
        Ok(numbers)
    }
}

/// The `_id` of a document.
pub(super) fn id(document: &RawDocument) -> RawBsonRef<'_> {
    path::get(document, "_id").unwrap_or(RawBsonRef::Null)
}

fn without_id(collection: &str) -> Error {
    let message = format!("missing `_id`: a document of `{collection}` has none; give it one");
    Error::new(ErrorKind::Encode, message)
}
