//! The documents and unique keys of a store, at one moment.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use odm_mql::{Filter, key};
use odm_store::{
    CollectionSpec, DocumentWrite, Error, ErrorKind, IndexSpec, Lock, OtherEpoch, Result,
    check_document,
};

/// A value, or a list of values, as bytes in the order of the values.
pub(super) type Key = Vec<u8>;

/// When a unique value that a document of a batch gives up is free for another document of the batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum UniqueValues {
    /// In the whole batch.
    AreExchanged,
    /// In the writes after it; removals come first.
    AreTakenInOrder,
}

/// The state of a store. A clone shares the collections until one of the two changes them.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    collections: BTreeMap<String, Arc<Collection>>,
    /// How many transactions have written.
    commits: u64,
    /// The epoch, and the number of the commit with which it began.
    epoch: (i64, u64),
    /// The last commits that locked a document, by its collection and key.
    locks: Arc<BTreeMap<(String, Key), LastLocks>>,
}

/// A document that is not the same in two states.
#[derive(Debug)]
pub(super) struct Difference<'s> {
    pub(super) collection: &'s str,
    /// The key of its `_id`.
    pub(super) key: &'s Key,
    pub(super) images: [Option<&'s Arc<RawDocumentBuf>>; 2],
}

/// The numbers of the last commits that locked a document.
#[derive(Debug, Clone, Copy, Default)]
struct LastLocks {
    shared: u64,
    exclusive: u64,
}

/// The documents of a collection by the key of `_id`, and its indexes.
#[derive(Debug, Clone, Default)]
pub(super) struct Collection {
    documents: BTreeMap<Key, Arc<RawDocumentBuf>>,
    indexes: Vec<Index>,
    /// The default collation.
    pub(super) collation: Option<odm_mql::Collation>,
}

#[derive(Debug, Clone)]
struct Index {
    spec: IndexSpec,
    /// The key of the `_id` that has each key, if the index is unique. Otherwise empty, since queries do not use indexes.
    owners: BTreeMap<Key, Key>,
}

impl State {
    pub(super) fn collection(&self, name: &str) -> Option<&Collection> {
        self.collections.get(name).map(Arc::as_ref)
    }

    pub(super) fn specs(&self) -> Vec<CollectionSpec> {
        let specs = self.collections.iter().map(|(name, collection)| {
            let indexes = collection.indexes.iter().map(|index| index.spec.clone());
            let mut indexes: Vec<IndexSpec> = indexes.collect();
            indexes.sort_by(|a, b| a.name.cmp(&b.name));
            CollectionSpec {
                name: name.clone(),
                indexes,
                obsolete: Vec::new(),
                collation: collection.collation.clone(),
            }
        });
        specs.collect()
    }

    pub(super) fn document(&self, collection: &str, id: &[u8]) -> Option<&Arc<RawDocumentBuf>> {
        self.collection(collection)?.documents.get(id)
    }

    pub(super) fn epoch(&self) -> i64 {
        self.epoch.0
    }

    /// The documents that are not the same in a later state.
    pub(super) fn differences<'s>(&'s self, later: &'s State) -> Vec<Difference<'s>> {
        let mut differences = Vec::new();
        for (name, after) in &later.collections {
            let before = self.collections.get(name);
            if before.is_some_and(|before| Arc::ptr_eq(before, after)) {
                continue;
            }
            let both = before.into_iter().chain([after]);
            let keys: BTreeSet<&Key> = both.flat_map(|of| of.documents.keys()).collect();
            differences.extend(keys.into_iter().filter_map(|key| {
                let images = [self.document(name, key), later.document(name, key)];
                let is_same = images[0].map(Arc::as_ptr) == images[1].map(Arc::as_ptr);
                (!is_same).then_some(Difference {
                    collection: name,
                    key,
                    images,
                })
            }));
        }
        differences
    }

    /// Takes the locks of a writing transaction, which has read a snapshot, at its commit. Returns whether no lock is lost to a commit
    /// since the snapshot.
    pub(super) fn lock(&mut self, snapshot: &State, locks: Vec<Lock>) -> Result<bool> {
        let begin = snapshot.commits;
        let mut is_lost = self.epoch.1 > begin;
        self.commits += 1;
        let commit = self.commits;
        let last = Arc::make_mut(&mut self.locks);
        for lock in locks {
            match lock {
                Lock::Shared { collection, key } => {
                    let last = last.entry((collection, key)).or_default();
                    is_lost |= last.exclusive > begin;
                    last.shared = commit;
                }
                Lock::Exclusive { collection, key } => {
                    let last = last.entry((collection, key)).or_default();
                    is_lost |= last.exclusive.max(last.shared) > begin;
                    last.exclusive = commit;
                }
                // If two transactions conflict here, the first commit wins.
                Lock::IfRunAgain { .. } => {}
                Lock::Epoch(epoch) if epoch != snapshot.epoch.0 => return Err(OtherEpoch.into()),
                Lock::Epoch(_) => {}
                Lock::NextEpoch(epoch) => {
                    is_lost |= commit > begin + 1;
                    self.epoch = (epoch, commit);
                }
            }
        }
        Ok(!is_lost)
    }

    fn collection_or_new(&mut self, name: &str) -> Result<&mut Collection> {
        if name.is_empty() || name.contains('\0') {
            let message = format!(
                "invalid collection name {name:?}: use a name that is not empty and has no NUL"
            );
            return Err(Error::new(ErrorKind::Schema, message));
        }
        let collection = self.collections.entry(name.to_owned()).or_default();
        Ok(Arc::make_mut(collection))
    }

    /// Creates the missing indexes of a collection, and removes the obsolete ones.
    pub(super) fn ensure(&mut self, spec: &CollectionSpec) -> Result<()> {
        let is_new = self.collection(&spec.name).is_none();
        let collection = self.collection_or_new(&spec.name)?;
        if is_new {
            collection.collation.clone_from(&spec.collation);
        } else if spec.collation.is_some() && spec.collation != collection.collation {
            let message = format!("`{}` exists with another default collation", spec.name);
            return Err(Error::new(ErrorKind::Schema, message).at(&spec.name, None, None));
        }
        collection.indexes.retain(|index| {
            !spec.obsolete.contains(&index.spec) || spec.indexes.contains(&index.spec)
        });
        for index in &spec.indexes {
            let same_name = |other: &&Index| other.spec.name == index.name;
            match collection.indexes.iter().find(same_name) {
                Some(other) if other.spec == *index => {}
                Some(_) => return Err(differs(&spec.name, index)),
                None => collection.create_index(&spec.name, index)?,
            }
        }
        Ok(())
    }

    /// Applies the writes of a batch to one collection. After an error a part may be applied.
    pub(super) fn apply(
        &mut self,
        name: &str,
        writes: &[DocumentWrite<'_>],
        unique_values: UniqueValues,
    ) -> Result<()> {
        let collection = self.collection_or_new(name)?;
        let (removals, rest): (Vec<_>, Vec<_>) =
            writes.iter().partition(|write| write.after().is_none());
        for write in removals {
            collection.put(name, write)?;
        }
        match unique_values {
            UniqueValues::AreExchanged => {
                for write in &rest {
                    collection.put(name, write)?;
                }
                for write in &rest {
                    collection.claim(name, write.document())?;
                }
            }
            UniqueValues::AreTakenInOrder => {
                for write in &rest {
                    collection.put(name, write)?;
                    collection.claim(name, write.document())?;
                }
            }
        }
        Ok(())
    }
}

impl Collection {
    pub(super) fn get(&self, id: RawBsonRef<'_>) -> Option<&Arc<RawDocumentBuf>> {
        self.documents.get(&key::of(id))
    }

    /// The documents that match all filters, in the order of `_id`.
    pub(super) fn matching(
        &self,
        name: &str,
        filters: &[&Filter],
    ) -> Result<Vec<&Arc<RawDocumentBuf>>> {
        let mut found = Vec::new();
        for document in self.documents.values() {
            if matches_all(name, document, filters)? {
                found.push(document);
            }
        }
        Ok(found)
    }

    pub(super) fn len(&self) -> u64 {
        self.documents.len() as u64
    }

    fn create_index(&mut self, collection: &str, spec: &IndexSpec) -> Result<()> {
        let is_valid = |path: &str| !path.split('.').any(str::is_empty) && !path.contains('\0');
        let has_fields = !spec.keys.is_empty() && spec.keys.iter().all(|(path, _)| is_valid(path));
        if spec.name.is_empty() || spec.name == "_id" || !has_fields {
            let message = format!(
                "invalid index `{}` of `{collection}`: give it a name and fields",
                spec.name
            );
            let error = Error::new(ErrorKind::Schema, message);
            return Err(error.at(collection, Some(&spec.name), None));
        }
        let mut index = Index {
            spec: spec.clone(),
            owners: BTreeMap::new(),
        };
        for (id, document) in &self.documents {
            index.claim(collection, id, document)?;
        }
        self.indexes.push(index);
        Ok(())
    }

    /// Stores or removes a document, and gives up its earlier unique keys.
    fn put(&mut self, name: &str, write: &DocumentWrite<'_>) -> Result<()> {
        if let Some(after) = write.after() {
            check_document(name, after)?;
        }
        let id = id_of(write.document())?;
        let key = key::of(id);
        match (self.documents.get(&key), write.before()) {
            (Some(_), None) => return Err(Error::duplicate_id(name, id)),
            (Some(stored), Some(before)) if stored.as_bytes() == before.as_bytes() => {}
            (None, None) => {}
            (_, Some(before)) => return Err(wrong_image(name, before, &key)),
        }
        if let Some(before) = write.before() {
            for index in &mut self.indexes {
                for values in index.spec.keys_of(before)? {
                    index.owners.remove(&key_of(&values));
                }
            }
        }
        match write.after() {
            Some(after) => self.documents.insert(key, Arc::new(after.to_owned())),
            None => self.documents.remove(&key),
        };
        Ok(())
    }

    /// Gives a document its keys in unique indexes, if no other document has them.
    fn claim(&mut self, name: &str, document: &RawDocument) -> Result<()> {
        let id = key::of(id_of(document)?);
        for index in &mut self.indexes {
            index.claim(name, &id, document)?;
        }
        Ok(())
    }
}

impl Index {
    fn claim(&mut self, collection: &str, id: &Key, document: &RawDocument) -> Result<()> {
        // The keys of other indexes are computed too, since that may fail.
        for values in self.spec.keys_of(document)? {
            if self.spec.unique && self.owners.insert(key_of(&values), id.clone()).is_some() {
                return Err(self.spec.duplicate_key(collection, &values));
            }
        }
        Ok(())
    }
}

/// Whether a document of a collection matches all filters.
pub(super) fn matches_all(
    collection: &str,
    document: &RawDocument,
    filters: &[&Filter],
) -> Result<bool> {
    for filter in filters {
        let matched = filter.matches(document).map_err(|error| {
            let id = id_of(document).unwrap_or(RawBsonRef::Null);
            Error::failed_filter(collection, id, error)
        });
        if !matched? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn key_of(values: &[RawBson]) -> Key {
    let keys = values.iter().map(|value| key::of(value.as_raw_bson_ref()));
    keys.collect::<Vec<Key>>().concat()
}

fn id_of(document: &RawDocument) -> Result<RawBsonRef<'_>> {
    let id = document.get("_id").ok().flatten();
    id.ok_or_else(|| Error::new(ErrorKind::Encode, "document has no `_id`: give it one"))
}

/// The error of a `before` that is not the stored document, or has another `_id` than its `after`.
fn wrong_image(collection: &str, before: &RawDocument, after: &[u8]) -> Error {
    match id_of(before) {
        Ok(id) if key::of(id) != after => Error::new(
            ErrorKind::InvalidUpdate,
            format!("`_id` of a document of `{collection}` changed: insert a new document"),
        ),
        _ => Error::new(
            ErrorKind::Corrupt,
            format!("image of a document of `{collection}` is not the stored one: read it again"),
        ),
    }
}

fn differs(collection: &str, index: &IndexSpec) -> Error {
    let message = format!(
        "index `{}` of `{collection}` exists with other fields or options: give it another name",
        index.name
    );
    Error::new(ErrorKind::Schema, message).at(collection, Some(&index.name), None)
}
