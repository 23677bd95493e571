//! The trial of a migration: it finds the failures of a migration without writing.
//!
//! Each document goes through all steps that are left, and the result is checked against the new models and the keys of unique indexes.
//! Documents are read in portions, and not kept in memory. Keys are compared by their hashes, in as many rounds through the documents as
//! the memory takes: one for four million keys.

mod keys;
mod passage;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use bson::RawBson;
use odm_mql::{Schema, path};
use odm_store::{CollectionSpec, Error, ErrorKind, IndexSpec, Result, Store, show};

use self::{
    keys::Keys,
    passage::{PassageEnd, Passing},
};
use super::{
    Plan,
    failure::{Failure, Failures},
    readable::unreadable,
    run::documents_after,
    step::Action,
};
use crate::{
    catalog::Declaration,
    model::{Model, ReadCheck},
};

/// The steps, models and indexes that are tried before a version of a database is opened.
pub(crate) struct Trial<'t> {
    plan: &'t Plan,
    models: HashMap<&'t str, TriedModel>,
    /// The indexes of the collections that steps change, and the new ones of others.
    indexes: BTreeMap<&'t str, Vec<&'t IndexSpec>>,
}

struct TriedModel {
    schema: Schema,
    read: Option<ReadCheck>,
    /// Whether documents may be unreadable that no step has changed.
    is_changed: bool,
}

impl<'t> Trial<'t> {
    /// `changed` are the collections whose models can read fewer documents than the models of the version before, `collections` have all
    /// indexes that are in force after the migration, and `new_indexes` are the indexes among them that nobody has declared before.
    pub(crate) fn new(
        plan: &'t Plan,
        declaration: &'t Declaration,
        models: &[&'static Model],
        changed: &BTreeSet<String>,
        collections: &'t [CollectionSpec],
        new_indexes: &'t [(String, IndexSpec)],
    ) -> Result<Self> {
        let by_steps = plan.collections();
        let mut tried = HashMap::new();
        for model in &declaration.models {
            let is_changed = changed.contains(&model.collection);
            if is_changed || by_steps.contains(&model.collection) {
                let mut models = models.iter();
                let read = models.find(|of| of.collection == model.collection);
                let model_of = TriedModel {
                    schema: model.parse()?,
                    read: read.map(|of| of.readable),
                    is_changed,
                };
                tried.insert(model.collection.as_str(), model_of);
            }
        }
        let mut indexes: BTreeMap<&str, Vec<&IndexSpec>> = BTreeMap::new();
        for spec in collections
            .iter()
            .filter(|spec| by_steps.contains(&spec.name))
        {
            indexes.entry(&spec.name).or_default().extend(&spec.indexes);
        }
        for (collection, index) in new_indexes
            .iter()
            .filter(|(name, _)| !by_steps.contains(name))
        {
            indexes.entry(collection).or_default().push(index);
        }
        Ok(Trial {
            plan,
            models: tried,
            indexes,
        })
    }

    /// Runs the trial.
    ///
    /// # Errors
    ///
    /// The errors of the store alone.
    pub(crate) async fn run(&self, store: &dyn Store) -> Result<Failures> {
        let (mut failures, mut keys) = (Failures::default(), Keys::new());
        self.pass_all(store, &mut |end| {
            match end {
                PassageEnd::Failed(failure, error) => failures.add(failure, error),
                PassageEnd::Stays(document) => self.look_at(&document, &mut failures, &mut keys)?,
                PassageEnd::Gone => {}
            }
            Ok(())
        })
        .await?;
        while keys.end_round() {
            self.pass_all(store, &mut |end| {
                if let PassageEnd::Stays(document) = end {
                    self.keys_of(&document, |index, key| {
                        let hash = keys.hash((&document.collection, &index.name), &key);
                        keys.add(hash);
                    });
                }
                Ok(())
            })
            .await?;
        }
        if !keys.repeated().is_empty() {
            self.find_duplicates(store, &keys, &mut failures).await?;
        }
        Ok(failures)
    }

    /// The collections whose documents are read.
    fn sources(&self) -> BTreeSet<String> {
        let mut all = self.plan.collections();
        let changed = self.models.iter().filter(|(_, model)| model.is_changed);
        all.extend(changed.map(|(collection, _)| (*collection).to_owned()));
        all.extend(
            self.indexes
                .keys()
                .map(|collection| (*collection).to_owned()),
        );
        all
    }

    /// Lets each document pass through the steps.
    async fn pass_all(
        &self,
        store: &dyn Store,
        each: &mut (dyn FnMut(PassageEnd) -> Result<()> + Send),
    ) -> Result<()> {
        for collection in self.sources() {
            let mut after = None;
            loop {
                // A server does not keep a snapshot for as long as a trial may take, and nobody else writes to these collections.
                let reader = store.reader()?;
                let documents = documents_after(&*reader, &collection, after).await?;
                let Some(last) = documents.last() else { break };
                after = path::get(last, "_id").map(RawBson::from);
                for document in documents {
                    let document = Passing::new(&collection, document);
                    each(
                        passage::pass(self.plan, &*reader, document, self.plan.steps.len()).await?,
                    )?;
                }
            }
        }
        Ok(())
    }

    /// Checks a document that has passed through all steps by its model and its indexes.
    fn look_at(&self, document: &Passing, failures: &mut Failures, keys: &mut Keys) -> Result<()> {
        let failed = |kind, path: Option<String>, index: Option<&str>, reason| Failure {
            kind,
            step: None,
            collection: document.collection.clone(),
            id: document.id(),
            path,
            index: index.map(str::to_owned),
            reason,
        };
        if let Some(model) = self.models.get(document.collection.as_str())
            && (model.is_changed || document.is_changed)
            && let Some(violation) = unreadable(&model.schema, model.read, &document.document)?
        {
            let path = Some(violation.path.clone());
            let failure = failed(ErrorKind::Schema, path, None, violation.to_string());
            failures.add(failure, None);
        }
        for index in self.indexes_of(&document.collection) {
            match index.keys_of(&document.document) {
                Ok(all) if index.unique => {
                    for key in all {
                        let hash = keys.hash((&document.collection, &index.name), &key);
                        keys.add(hash);
                    }
                }
                Ok(_) => {}
                Err(error) => {
                    let failure = failed(error.kind(), None, Some(&index.name), error.to_string());
                    failures.add(failure, Some(error));
                }
            }
        }
        Ok(())
    }

    fn indexes_of(&self, collection: &str) -> impl Iterator<Item = &'t IndexSpec> {
        self.indexes.get(collection).into_iter().flatten().copied()
    }

    /// The keys of a document in unique indexes. An index for which the computation of the keys fails was reported already.
    fn keys_of(&self, document: &Passing, mut each: impl FnMut(&IndexSpec, Vec<RawBson>)) {
        for index in self
            .indexes_of(&document.collection)
            .filter(|index| index.unique)
        {
            for key in index.keys_of(&document.document).unwrap_or_default() {
                each(index, key);
            }
        }
    }

    /// Adds failures for the documents with duplicate keys of unique indexes.
    async fn find_duplicates(
        &self,
        store: &dyn Store,
        keys: &Keys,
        failures: &mut Failures,
    ) -> Result<()> {
        let mut first: HashMap<(String, String, Vec<u8>), RawBson> = HashMap::new();
        self.pass_all(store, &mut |end| {
            let PassageEnd::Stays(document) = end else {
                return Ok(());
            };
            self.keys_of(&document, |index, key| {
                let hash = keys.hash((&document.collection, &index.name), &key);
                if !keys.repeated().contains(&hash) {
                    return;
                }
                let place = (
                    document.collection.clone(),
                    index.name.clone(),
                    keys::bytes(&key),
                );
                let Some(other) = first.get(&place) else {
                    first.insert(place, document.id());
                    return;
                };
                let error = index.duplicate_key(&document.collection, &key);
                let location = error.location();
                let value = location.and_then(|location| location.id.as_ref());
                let path = location.and_then(|location| location.path.clone());
                let reason = format!(
                    "`{}` = {} is that of `_id` = {} too, and the index is unique",
                    path.as_deref().unwrap_or_default(),
                    value.map(show).unwrap_or_default(),
                    show(other)
                );
                let failure = Failure {
                    kind: ErrorKind::DuplicateKey,
                    step: None,
                    collection: document.collection.clone(),
                    id: document.id(),
                    path,
                    index: Some(index.name.clone()),
                    reason,
                };
                failures.add(failure, Some(error));
            });
            Ok(())
        })
        .await
    }
}
