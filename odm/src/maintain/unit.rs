//! A unit while it runs: the transaction, and what it has changed so far.

use std::{
    collections::{BTreeMap, HashMap},
    ops::ControlFlow,
};

use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

use super::{
    Effect, Step, kept_fields,
    places::{Fields, changes},
};
use crate::{
    catalog::Catalog,
    error::Result,
    mql::{Filter, Projection, Sort, Test, key},
    store::{Change, Cost, DeleteWrite, Find, Transaction, UpdateWrite},
};

/// Every step of a unit writes through this, so that the later ones see what the earlier ones did.
pub(super) struct Unit<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) transaction: &'a mut dyn Transaction,
    pub(super) changes: Changes,
    /// Nothing that is stored is taken for right.
    pub(super) mends: bool,
    /// What each step touched.
    pub(super) steps: Vec<Step>,
}

/// What a write of a step touched.
#[derive(Debug, Default)]
pub(super) struct Touched {
    /// How many documents matched.
    pub(super) matched: u64,
    /// The places in the collection's changes of those that are different, in the order of writing.
    pub(super) places: Vec<usize>,
}

impl<'a> Unit<'a> {
    pub(super) fn new(catalog: &'a Catalog, transaction: &'a mut dyn Transaction) -> Self {
        Unit {
            catalog,
            transaction,
            changes: Changes::default(),
            mends: false,
            steps: Vec::new(),
        }
    }

    /// Takes note of what was touched since `start`, if anything was. Steps of one name are one.
    pub(super) fn step(&mut self, start: Cost, name: impl FnOnce() -> String) {
        let cost = self.transaction.cost() - start;
        if cost == Cost::default() {
            return;
        }
        let name = name();
        match self.steps.iter_mut().find(|step| step.name == name) {
            Some(step) => step.cost += cost,
            None => self.steps.push(Step { name, cost }),
        }
    }
}

impl Unit<'_> {
    /// A document as it is now.
    pub(super) async fn get(
        &self,
        collection: &str,
        id: &RawBson,
    ) -> Result<Option<RawDocumentBuf>> {
        let mut found = None;
        let each = &mut |_, document: &RawDocument| {
            found = Some(document.to_owned());
            Ok(ControlFlow::Continue(()))
        };
        let id = std::slice::from_ref(id);
        self.transaction.get(collection, id, each).await?;
        Ok(found)
    }

    pub(super) async fn insert(
        &mut self,
        collection: &str,
        documents: &[RawDocumentBuf],
    ) -> Result<Touched> {
        self.transaction.insert(collection, documents).await?;
        let places = documents
            .iter()
            .map(|document| self.changes.note(collection, None, Some(document.clone())))
            .collect();
        Ok(Touched { matched: 0, places })
    }

    pub(super) async fn update(&mut self, write: &UpdateWrite) -> Result<Touched> {
        let updated = self.transaction.update(write).await?;
        let changes = updated.changes.into_iter();
        let mut touched = Touched {
            matched: updated.matched,
            places: changes
                .map(|changed| {
                    let (before, after) = (Some(changed.before), Some(changed.after));
                    self.changes.note(&write.collection, before, after)
                })
                .collect(),
        };
        if let Some(inserted) = updated.upserted {
            let place = self.changes.note(&write.collection, None, Some(inserted));
            touched.places.push(place);
        }
        Ok(touched)
    }

    pub(super) async fn delete(&mut self, write: &DeleteWrite) -> Result<Touched> {
        let removed = self.transaction.delete(write).await?;
        let matched = removed.len() as u64;
        let places = removed
            .into_iter()
            .map(|document| self.changes.note(&write.collection, Some(document), None))
            .collect();
        Ok(Touched { matched, places })
    }

    /// Sets or removes fields of a document that follow from others, if it is there.
    pub(super) async fn set(
        &mut self,
        collection: &str,
        id: &RawBson,
        fields: Fields,
    ) -> Result<Touched> {
        let update = changes(fields);
        if update.is_empty() {
            return Ok(Touched::default());
        }
        self.update(&by_id(collection, id, Change::Update(update)))
            .await
    }

    /// Sets fields of a document that are facts of its own, which its version counts.
    pub(super) async fn set_facts(
        &mut self,
        collection: &str,
        id: &RawBson,
        fields: Fields,
    ) -> Result<()> {
        let mut fields = fields;
        if let Some(path) = self.catalog.version(collection)
            && !fields.is_empty()
            && let Some(document) = self.get(collection, id).await?
        {
            let before = self.changes.before(collection, &document);
            let version = kept_fields::next_version(before.as_deref(), &document, path)?;
            fields.push((path.to_owned(), Some(version)));
        }
        self.set(collection, id, fields).await.map(drop)
    }

    /// The `_id`s of the documents that match.
    pub(super) async fn ids(&self, collection: &str, filter: Filter) -> Result<Vec<RawBson>> {
        let find = Find {
            collection: collection.to_owned(),
            filter,
            projection: Some(Projection::include(["_id"])?),
            ..Find::default()
        };
        let mut ids = Vec::new();
        let each = &mut |_, document: &RawDocument| {
            ids.push(RawBson::from(id(document)));
            Ok(ControlFlow::Continue(()))
        };
        self.transaction.find(&find, each).await?;
        Ok(ids)
    }

    /// Those of these documents that are there, as they are now.
    pub(super) async fn get_many(
        &self,
        collection: &str,
        ids: &[RawBson],
    ) -> Result<Vec<RawDocumentBuf>> {
        let mut documents = Vec::with_capacity(ids.len());
        let each = &mut |_, document: &RawDocument| {
            documents.push(document.to_owned());
            Ok(ControlFlow::Continue(()))
        };
        self.transaction.get(collection, ids, each).await?;
        Ok(documents)
    }
}

/// The documents that a unit has changed, by collection.
#[derive(Debug, Default)]
pub(super) struct Changes {
    collections: BTreeMap<String, Changed>,
    /// The documents that were removed, in order, by collection and `_id`.
    removed: Vec<(String, RawBson)>,
}

/// The net changes in one collection, in the order in which the documents were first touched.
#[derive(Debug, Default)]
struct Changed {
    effects: Vec<Effect>,
    /// The place of each by its `_id`.
    places: HashMap<Vec<u8>, usize>,
}

impl Changes {
    /// Takes note of one write, and gives the place of the document.
    ///
    /// Of a document that is written again only the last state counts, and the first one before.
    pub(super) fn note(
        &mut self,
        collection: &str,
        before: Option<RawDocumentBuf>,
        after: Option<RawDocumentBuf>,
    ) -> usize {
        if !self.collections.contains_key(collection) {
            let none = Changed::default();
            self.collections.insert(collection.to_owned(), none);
        }
        let changed = self
            .collections
            .get_mut(collection)
            .expect("the collection is there by now");
        let document = after.as_deref().or(before.as_deref());
        let id = document.map_or(RawBsonRef::Null, id);
        if after.is_none() {
            self.removed.push((collection.to_owned(), id.into()));
        }
        let next = changed.effects.len();
        let place = *changed.places.entry(key::of(id)).or_insert(next);
        match changed.effects.get_mut(place) {
            Some(effect) => effect.after = after,
            None => changed.effects.push(Effect { before, after }),
        }
        place
    }

    /// A document as it was before the unit, if it was there.
    pub(super) fn before(&self, collection: &str, now: &RawDocument) -> Option<RawDocumentBuf> {
        let changed = self.collections.get(collection);
        match changed.and_then(|changed| Some((changed, changed.places.get(&key::of(id(now)))?))) {
            Some((changed, &place)) => changed.effects[place].before.clone(),
            None => Some(now.to_owned()),
        }
    }

    /// The collections in which something changed.
    pub(super) fn collections(&self) -> impl Iterator<Item = &str> {
        self.collections.keys().map(String::as_str)
    }

    /// What changed in a collection. A document that came and went within the unit is none before
    /// and none after.
    pub(super) fn of(&self, collection: &str) -> &[Effect] {
        self.collections
            .get(collection)
            .map_or(&[], |changed| &changed.effects)
    }

    /// The documents that were removed since there were `known` of them.
    pub(super) fn removed_since(&self, known: usize) -> &[(String, RawBson)] {
        &self.removed[known..]
    }

    /// The effects at some places of a collection.
    pub(super) fn take(mut self, collection: &str, places: &[usize]) -> Vec<Effect> {
        let mut effects = self
            .collections
            .remove(collection)
            .unwrap_or_default()
            .effects;
        places
            .iter()
            .map(|&place| std::mem::take(&mut effects[place]))
            .collect()
    }
}

/// The `_id` of a document.
pub(super) fn id(document: &RawDocument) -> RawBsonRef<'_> {
    document
        .get("_id")
        .ok()
        .flatten()
        .unwrap_or(RawBsonRef::Null)
}

/// A change of one document.
pub(super) fn by_id(collection: &str, id: &RawBson, change: Change) -> UpdateWrite {
    UpdateWrite {
        collection: collection.to_owned(),
        filter: Filter::Path("_id".into(), Test::Eq(id.clone())),
        sort: Sort::default(),
        change,
        multi: false,
        upsert: false,
    }
}
