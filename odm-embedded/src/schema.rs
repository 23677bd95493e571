//! The collections and indexes that exist, as one record of the store.

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    sync::Arc,
};

use bson::{Bson, Document, RawDocument};
use odm_mql::{Collation, key::Types, steps};
use odm_store::{
    CollectionSpec, Direction, Error, ErrorKind, FilterForm, IndexFilter, IndexSpec, Result,
};
use serde::{Deserialize, Serialize};

use super::{
    entries::IndexEntries,
    layout::{
        END, FORMAT, FORMAT_OF_COLLATIONS, FORMAT_OF_INDEXES, FORMAT_OF_TYPES, MAX_TREE, Tree,
        damaged,
    },
    uses::Uses,
};

/// The name of the record of the schema.
pub(super) const RECORD: &[u8] = b"catalog";

/// The name of the record of the format.
pub(super) const FORMAT_RECORD: &[u8] = b"format";

/// The field of a stored collation with the version of its rules.
const VERSION: &str = "version";

/// All collections and their indexes.
#[derive(Debug, Clone, Default)]
pub(super) struct Schema {
    collections: HashMap<String, Arc<Collection>>,
    /// The greatest number of a tree that was ever used.
    last_tree: Tree,
    /// Trees of collections and indexes that were removed. They are not read.
    pub(super) garbage: Vec<Tree>,
}

/// A collection.
#[derive(Debug, Clone)]
pub(super) struct Collection {
    pub(super) name: String,
    pub(super) tree: Tree,
    pub(super) indexes: Vec<Index>,
    /// The default collation.
    pub(super) collation: Option<Collation>,
    /// The uses of the order of `_id`.
    pub(super) uses: Uses,
}

/// An index of a collection.
#[derive(Debug, Clone)]
pub(super) struct Index {
    pub(super) tree: Tree,
    pub(super) spec: IndexSpec,
    /// For each field, whether a document ever had an array at its path. It is set in the unit that
    /// stores the first such document, and never unset.
    pub(super) multikey: Vec<bool>,
    /// For each field, the types that its values ever had, as `multikey`; the types of values beside an array are left out.
    /// [`Types::ANY`] if they are not known.
    pub(super) types: Vec<Types>,
    /// How far the index is built; `None` once it is in force. Until then exactly the documents up to that point have entries, also
    /// documents that are written meanwhile.
    pub(super) build: Option<Build>,
    /// The version of its collation's rules, if it is not that of this library: its keys are of no use then, until it is built anew.
    pub(super) other_rules: Option<String>,
    pub(super) uses: Uses,
}

/// The progress of the build of an index.
#[derive(Debug, Clone, Default)]
pub(super) struct Build {
    /// The key of the last document that has entries, or [`END`].
    pub(super) to: Vec<u8>,
    /// The number of documents that were read.
    pub(super) documents: u64,
}

impl Index {
    pub(super) fn new(tree: Tree, spec: IndexSpec) -> Index {
        Index {
            tree,
            multikey: vec![false; spec.keys.len()],
            types: vec![Types::NONE; spec.keys.len()],
            spec,
            build: Some(Build::default()),
            other_rules: None,
            uses: Uses::default(),
        }
    }

    /// Whether the values of a document have arrays or types that the index did not have.
    pub(super) fn is_new(&self, entries: &IndexEntries) -> bool {
        let mut arrays = self.multikey.iter().zip(&entries.multikey);
        !entries.new_types.is_empty() || arrays.any(|(known, array)| *array && !known)
    }

    /// Notes the arrays and types that the values of a document have.
    pub(super) fn note(&mut self, entries: &IndexEntries) {
        for (known, array) in self.multikey.iter_mut().zip(&entries.multikey) {
            *known |= array;
        }
        for (known, new) in self.types.iter_mut().zip(&entries.new_types) {
            *known |= *new;
        }
    }

    /// Whether the index has the entries of the document with this key, if it exists.
    pub(super) fn covers(&self, id: &[u8]) -> bool {
        self.build.as_ref().is_none_or(|build| id <= &*build.to)
    }

    /// Whether all documents have entries. Queries may not use the index yet.
    pub(super) fn is_complete(&self) -> bool {
        self.covers(&END)
    }
}

impl Collection {
    /// The indexes that queries use.
    pub(super) fn in_force(&self) -> impl Iterator<Item = &Index> {
        let declared = self.declared();
        declared.filter(|index| index.other_rules.is_none())
    }

    /// The indexes whose builds have ended.
    pub(super) fn declared(&self) -> impl Iterator<Item = &Index> {
        self.indexes.iter().filter(|index| index.build.is_none())
    }
}

impl Schema {
    #[inline]
    pub(super) fn collection(&self, name: &str) -> Option<&Arc<Collection>> {
        self.collections.get(name)
    }

    pub(super) fn default_collation(&self, collection: &str) -> Option<Collation> {
        self.collection(collection)?.collation.clone()
    }

    pub(super) fn collections(&self) -> impl Iterator<Item = &Collection> {
        self.collections.values().map(|collection| &**collection)
    }

    /// The collections that have indexes of other versions of the rules of collations, with the indexes that are to be built anew.
    pub(super) fn of_other_rules(&self) -> Vec<CollectionSpec> {
        let is_other = |index: &&Index| index.other_rules.is_some();
        let collections = self.collections();
        let collections = collections
            .filter(|collection| collection.indexes.iter().any(|index| is_other(&index)));
        let specs = collections.map(|collection| {
            let indexes = collection.declared().filter(is_other);
            CollectionSpec {
                name: collection.name.clone(),
                indexes: indexes.map(|index| index.spec.clone()).collect(),
                ..CollectionSpec::default()
            }
        });
        specs.collect()
    }

    /// The collections with their indexes that are in force, in the order of the names of both. A store that is read only has those of
    /// other rules, too.
    pub(super) fn specs(&self) -> Vec<CollectionSpec> {
        let specs = self.collections().map(|collection| {
            let indexes = collection.declared().map(|index| index.spec.clone());
            let mut indexes: Vec<IndexSpec> = indexes.collect();
            indexes.sort_by(|a, b| a.name.cmp(&b.name));
            CollectionSpec {
                name: collection.name.clone(),
                indexes,
                obsolete: Vec::new(),
                collation: collection.collation.clone(),
            }
        });
        let mut specs: Vec<CollectionSpec> = specs.collect();
        specs.sort_by(|a, b| a.name.cmp(&b.name));
        specs
    }

    pub(super) fn set(&mut self, collection: Collection) {
        self.collections
            .insert(collection.name.clone(), Arc::new(collection));
    }

    /// Removes a collection. Its trees are garbage then.
    pub(super) fn remove(&mut self, name: &str) {
        if let Some(removed) = self.collections.remove(name) {
            self.garbage.push(removed.tree);
            let indexes = removed.indexes.iter();
            self.garbage.extend(indexes.map(|index| index.tree));
        }
    }

    /// Gives a collection the name of another one, which is removed. Returns whether the collection exists.
    pub(super) fn replace(&mut self, from: &str, to: &str) -> bool {
        let Some(mut collection) = self.collections.remove(from) else {
            return false;
        };
        self.remove(to);
        to.clone_into(&mut Arc::make_mut(&mut collection).name);
        self.collections.insert(to.to_owned(), collection);
        true
    }

    /// All indexes, each with its collection.
    pub(super) fn indexes(&self) -> impl Iterator<Item = (&Arc<Collection>, &Index)> {
        let collections = self.collections.values();
        collections.flat_map(|collection| {
            let indexes = collection.indexes.iter();
            indexes.map(move |index| {
                steps::step();
                (collection, index)
            })
        })
    }

    /// Removes the indexes in these trees. The trees are garbage then.
    pub(super) fn remove_indexes(&mut self, trees: &BTreeSet<Tree>) {
        for collection in self.collections.values_mut() {
            let is_removed = |index: &Index| trees.contains(&index.tree);
            if collection.indexes.iter().any(is_removed) {
                let indexes = &mut Arc::make_mut(collection).indexes;
                let removed = indexes.extract_if(.., |index| is_removed(index));
                self.garbage.extend(removed.map(|index| index.tree));
            }
        }
    }

    /// Goes on with the counts of uses of an earlier schema of the same store.
    pub(super) fn continue_uses(&mut self, earlier: &Schema) {
        for collection in self.collections.values_mut() {
            let same = earlier.collection(&collection.name);
            let Some(earlier) = same.filter(|earlier| earlier.tree == collection.tree) else {
                continue;
            };
            let collection = Arc::make_mut(collection);
            collection.uses = earlier.uses.clone();
            for index in &mut collection.indexes {
                let same = |other: &&Index| other.tree == index.tree && other.spec == index.spec;
                if let Some(same) = earlier.indexes.iter().find(same) {
                    index.uses = same.uses.clone();
                }
            }
        }
    }

    /// The greatest number of a tree that was ever used.
    pub(super) fn last_tree(&self) -> Tree {
        self.last_tree
    }

    /// Changes the indexes in these trees.
    pub(super) fn change_indexes(
        &mut self,
        trees: &BTreeSet<Tree>,
        mut change: impl FnMut(&mut Index),
    ) {
        for collection in self.collections.values_mut() {
            let is_meant = |index: &Index| trees.contains(&index.tree);
            if collection.indexes.iter().any(is_meant) {
                let indexes = Arc::make_mut(collection).indexes.iter_mut();
                indexes
                    .filter(|index| is_meant(index))
                    .for_each(&mut change);
            }
        }
    }

    /// Assigns a new tree, which is empty.
    pub(super) fn new_tree(&mut self) -> Result<Tree> {
        if self.last_tree >= MAX_TREE {
            let message = format!(
                "too many collections and indexes: the store has made {MAX_TREE}, with those that are gone; \
                 copy its documents into a new one"
            );
            return Err(Error::new(ErrorKind::Limit, message));
        }
        self.last_tree += 1;
        Ok(self.last_tree)
    }

    /// The format that knows the kinds of all indexes, and the default collations.
    pub(super) fn format(&self) -> i32 {
        let mut indexes = self.indexes();
        if indexes.any(|(_, index)| index.types.iter().any(|types| *types != Types::ANY)) {
            return FORMAT_OF_TYPES;
        }
        if self
            .collections()
            .any(|collection| collection.collation.is_some())
        {
            return FORMAT_OF_COLLATIONS;
        }
        let indexes = self
            .collections()
            .flat_map(|collection| &collection.indexes);
        let formats = indexes.map(|index| {
            if index.spec.collation.is_some() {
                FORMAT_OF_COLLATIONS
            } else if index.spec.case_insensitive || index.spec.filter.is_some() {
                FORMAT_OF_INDEXES
            } else {
                FORMAT
            }
        });
        formats.max().unwrap_or(FORMAT)
    }

    pub(super) fn encode(&self) -> Result<Vec<u8>> {
        steps::many(self.indexes().count() + self.collections.len());
        let mut collections: Vec<_> = self.collections().map(CollectionRecord::from).collect();
        collections.sort_by_key(|collection| collection.tree);
        let record = SchemaRecord {
            last_tree: self.last_tree.into(),
            garbage: self.garbage.iter().map(|&tree| tree.into()).collect(),
            collections,
        };
        let record = odm_store::encode(&record).map_err(|error| {
            Error::new(ErrorKind::Encode, "schema cannot be encoded").with_source(error)
        })?;
        Ok(record.into_bytes())
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Schema> {
        let record: SchemaRecord = odm_store::decode(bytes)
            .map_err(|error| damaged(format_args!("the schema cannot be decoded: {error}")))?;
        let tree = |tree: i64| {
            Tree::try_from(tree).map_err(|_| damaged("the number of a tree is out of range"))
        };
        let mut schema = Schema {
            last_tree: tree(record.last_tree)?,
            garbage: record
                .garbage
                .into_iter()
                .map(tree)
                .collect::<Result<_>>()?,
            collections: HashMap::new(),
        };
        for collection in record.collections {
            let indexes = collection.indexes.into_iter().map(|index| {
                let (collation, other_rules) = match &index.collation {
                    Some(form) => {
                        let of = format!("index `{}` of `{}`", index.name, collection.name);
                        let (collation, other_rules) = stored_collation(form, &of)?;
                        (Some(collation), other_rules)
                    }
                    None => (None, None),
                };
                Ok(Index {
                    tree: tree(index.tree)?,
                    multikey: index.keys.iter().map(|key| key.multikey).collect(),
                    types: index.keys.iter().map(KeyRecord::types).collect(),
                    build: index.build.map(|build| Build {
                        to: build.to,
                        documents: build.documents as u64,
                    }),
                    other_rules,
                    uses: Uses::default(),
                    spec: IndexSpec {
                        collation,
                        name: index.name,
                        keys: index
                            .keys
                            .into_iter()
                            .map(|key| (key.path, direction(key.descending)))
                            .collect(),
                        unique: index.unique,
                        present_only: index.present_only,
                        case_insensitive: index.case_insensitive,
                        filter: index.filter.map(index_filter).transpose()?,
                    },
                })
            });
            let default = match &collection.collation {
                // No keys depend on the version of its rules.
                Some(form) => {
                    Some(stored_collation(form, &format_args!("`{}`", collection.name))?.0)
                }
                None => None,
            };
            schema.set(Collection {
                indexes: indexes.collect::<Result<_>>()?,
                tree: tree(collection.tree)?,
                collation: default,
                uses: Uses::default(),
                name: collection.name,
            });
        }
        Ok(schema)
    }
}

fn direction(descending: bool) -> Direction {
    if descending {
        Direction::Descending
    } else {
        Direction::Ascending
    }
}

fn index_filter(form: FilterForm) -> Result<IndexFilter> {
    let filter = IndexFilter::try_from(form);
    filter.map_err(|error| {
        damaged(format_args!(
            "the filter of an index cannot be read: {error}"
        ))
    })
}

#[derive(Serialize, Deserialize)]
struct SchemaRecord {
    last_tree: i64,
    garbage: Vec<i64>,
    collections: Vec<CollectionRecord>,
}

#[derive(Serialize, Deserialize)]
struct CollectionRecord {
    name: String,
    tree: i64,
    indexes: Vec<IndexRecord>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "odm_mql::stored_value"
    )]
    collation: Option<Document>,
}

#[derive(Serialize, Deserialize)]
struct IndexRecord {
    name: String,
    tree: i64,
    keys: Vec<KeyRecord>,
    unique: bool,
    present_only: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    case_insensitive: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    filter: Option<FilterForm>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "odm_mql::stored_value"
    )]
    collation: Option<Document>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    build: Option<BuildRecord>,
}

fn is_false(value: &bool) -> bool {
    !value
}

#[derive(Serialize, Deserialize)]
struct BuildRecord {
    #[serde(with = "serde_bytes")]
    to: Vec<u8>,
    documents: i64,
}

#[derive(Serialize, Deserialize)]
struct KeyRecord {
    path: String,
    descending: bool,
    multikey: bool,
    /// Missing if they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    types: Option<i32>,
}

impl KeyRecord {
    fn types(&self) -> Types {
        let bits = self.types.and_then(|bits| u8::try_from(bits).ok());
        bits.map_or(Types::ANY, Types::from_bits)
    }
}

impl From<&Collection> for CollectionRecord {
    fn from(collection: &Collection) -> Self {
        CollectionRecord {
            name: collection.name.clone(),
            tree: collection.tree.into(),
            indexes: collection.indexes.iter().map(IndexRecord::from).collect(),
            collation: collection.collation.as_ref().map(Collation::to_document),
        }
    }
}

impl From<&Index> for IndexRecord {
    fn from(index: &Index) -> Self {
        let keys = index.spec.keys.iter().zip(&index.multikey);
        let keys = keys.zip(&index.types);
        IndexRecord {
            name: index.spec.name.clone(),
            tree: index.tree.into(),
            keys: keys
                .map(|(((path, direction), &multikey), &types)| KeyRecord {
                    path: path.clone(),
                    descending: *direction == Direction::Descending,
                    multikey,
                    types: (types != Types::ANY).then(|| types.bits().into()),
                })
                .collect(),
            unique: index.spec.unique,
            present_only: index.spec.present_only,
            case_insensitive: index.spec.case_insensitive,
            filter: index
                .spec
                .filter
                .as_ref()
                .map(|filter| filter.form().clone()),
            collation: index.spec.collation.as_ref().map(|collation| {
                let mut form = collation.to_document();
                if let Some(version) = &index.other_rules {
                    form.insert(VERSION, version);
                }
                form
            }),
            build: index.build.as_ref().map(|build| BuildRecord {
                to: build.to.clone(),
                documents: build.documents as i64,
            }),
        }
    }
}

/// A stored collation, and the version of its rules if it is another one than this library's. `of` names its owner in messages.
fn stored_collation(form: &Document, of: &dyn fmt::Display) -> Result<(Collation, Option<String>)> {
    let mut parsed = form.clone();
    let Some(Bson::String(version)) = parsed.remove(VERSION) else {
        return Err(damaged(format_args!(
            "the collation of {of} has no version"
        )));
    };
    match Collation::parse(&parsed) {
        Ok(Some(collation)) => {
            let other_rules = Some(version).filter(|version| version != Collation::VERSION);
            Ok((collation, other_rules))
        }
        Ok(None) => Err(damaged(format_args!(
            "the collation of {of} is the one of bytes"
        ))),
        Err(error) => {
            let message = format!(
                "{of} has the collation {form}, which this program cannot use: {error}; or remove it with the program that has made it"
            );
            Err(Error::new(ErrorKind::Schema, message))
        }
    }
}

/// The record of the format version.
pub(super) fn format_record(version: i32) -> Result<Vec<u8>> {
    let mut record = Document::new();
    record.insert("format", Bson::Int32(version));
    record.to_vec().map_err(|error| {
        Error::new(ErrorKind::Encode, "cannot write the format version").with_source(error)
    })
}

/// The version in a record of [`format_record`].
pub(super) fn read_format(record: &[u8]) -> Option<i32> {
    RawDocument::from_bytes(record)
        .ok()?
        .get_i32(bson::raw::cstr!("format"))
        .ok()
}
