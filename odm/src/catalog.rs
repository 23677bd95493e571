//! The relations of all models as data, and the collections and indexes that they need.
//!
//! The catalog is built from the declarations of the derives, stored beside the data when a database is opened, and read from there, merged
//! with the declarations of other databases on the same store. `maintain` follows it on every write, and knows nothing of Rust types.

mod build;
mod check;
mod cold;
mod copied;
mod counters;
mod derived;
mod followed;
mod graph;
mod indexes;
mod models;
mod outbox;
mod pending;
mod read_checks;
mod relations;
mod rules;
mod stored;
mod stored_form;
mod svg;
mod unique;
mod validators;
mod views;
mod walk;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use bson::{RawBsonRef, RawDocument};
use serde::{Deserialize, Serialize};

pub(crate) use build::{Declaration, declared_by};
pub(crate) use cold::{Split, value_of};
pub(crate) use copied::CopiedField;
pub(crate) use counters::COUNTERS;
pub(crate) use derived::*;
use graph::DerivedGraph;
pub(crate) use models::differences;
pub use models::{FieldChange, FieldChangeKind};
pub(crate) use outbox::OUTBOX;
pub(crate) use pending::PendingField;
pub(crate) use read_checks::ModelReadCheck;
pub use relations::Relations;
pub(crate) use relations::{DeclaredCollection, Expiry, WriteFields};
pub use rules::ValidationRule;
use stored::OwnerVersion;
pub(crate) use stored::{
    Announcement, COLLECTION, OwnedIndex, Prepared, RunningMigration, StoredDatabase, advance,
    announce as announce_migration, begin, change_whole, check_owned, complete, create_in,
    create_validated, declare, declare_as, declared_versions, declaring, declaring_index, drop_all,
    drop_view, end_migration, follow, has_followed, is_current, is_outdated, is_own, load, prepare,
    publish, put_view, record_indexes, renew_epoch, restore_indexes, running, set_rule, stage,
    stored as stored_of, withdraw as withdraw_migration,
};
use stored_form::ChildFilter;
pub(crate) use validators::ActiveValidator;
use validators::Validator;
pub(crate) use views::ParsedViews;
pub use views::View;

pub(crate) use crate::model::{Model, OnDelete};
use odm_mql::path::{self, Leaf};
use odm_store::{Error, ErrorKind, IndexSpec, Result};

/// All relations that are in force.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    relations: Relations,
    graph: DerivedGraph,
    nodes: HashMap<String, CollectionNode>,
    /// The fields that older documents may not follow yet, as `collection.path`.
    pending: BTreeSet<String>,
    /// The pending fields with an empty value, by collection.
    pending_fields: HashMap<String, Vec<PendingField>>,
    /// The validators of each collection that has some.
    validators: HashMap<String, Arc<Vec<ActiveValidator>>>,
    /// The rules of collections that no model declares, by collection.
    rules: HashMap<String, ValidationRule>,
    /// The views, by their names.
    views: BTreeMap<String, View>,
    /// The databases on the store.
    owners: Vec<OwnerVersion>,
    /// The fields at the top of documents that models of any database name, by collection.
    named: HashMap<String, BTreeSet<String>>,
    /// The named fields that the models of this program do not name.
    unnamed: HashMap<String, BTreeSet<String>>,
    /// The fields that others always have a copy of, by collection.
    copied: HashMap<String, Arc<Vec<CopiedField>>>,
    /// The unique indexes that are in force, by collection.
    unique: HashMap<String, Vec<IndexSpec>>,
    /// The checks of this program's models that documents can be read, by collection.
    read_checks: HashMap<String, Arc<Vec<ModelReadCheck>>>,
    /// The number of changes of the stored catalog that led to this state of it.
    epoch: i64,
    /// Whether a database is about to change the declarations.
    is_changing: bool,
}

/// One collection in the catalog.
#[derive(Debug, Default)]
struct CollectionNode {
    /// The path of the field that counts the changes of a document.
    write_fields: WriteFields,
    /// The edges that start here, by their position in `Relations::edges`.
    out: Vec<usize>,
    /// The edges that end here.
    into: Vec<usize>,
    /// The derived fields that read documents of this collection, by their position.
    readers: Vec<usize>,
    /// The last level of the graph with a field that is computed from a derived field in documents of this collection.
    last_read_level: Option<usize>,
    /// The paths whose change has consequences; empty for the whole document.
    followed: BTreeSet<String>,
    /// Whether documents are split, or are cold parts.
    is_split: bool,
    /// How many further units read the documents, since unread updates have missed lately.
    reads_for: AtomicU32,
}

/// One reference: a path in the documents of one collection whose values are `_id`s of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Edge {
    /// The collection of the holder.
    pub(crate) from: String,
    /// The path of the reference in the holder, through arrays.
    pub(crate) path: String,
    /// The referenced collection.
    pub(crate) to: String,
    /// The number of references at the end of the path.
    pub(crate) cardinality: Cardinality,
    /// The path of the innermost list around it, or of itself if it is a list.
    pub(crate) list: Option<String>,
    /// Whether it may dangle.
    pub(crate) unchecked: bool,
    /// The delete rule for the referenced document.
    pub(crate) on_delete: OnDelete,
    /// The path of its inverse, in the referenced documents.
    pub(crate) inverse: Option<String>,
}

impl Edge {
    /// Whether the referenced document always exists.
    pub(crate) fn is_certain(&self) -> bool {
        !self.unchecked && self.on_delete != OnDelete::Keep
    }
}

/// How many references there are at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Cardinality {
    /// One.
    One,
    /// One, or null.
    Optional,
    /// A list.
    Many,
}

/// One derived field in the order of the graph.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OrderedField<'c> {
    pub(crate) field: &'c DerivedField,
    /// Whether a field of this level or of a later one follows from any derived field of the same
    /// collection.
    pub(crate) is_holder_read: bool,
    /// Whether another field follows from this one.
    pub(crate) is_read: bool,
    /// Whether older documents may not follow it yet.
    pub(crate) is_pending: bool,
}

/// A derived field that follows from the changes of a unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Following<'c> {
    pub(crate) ordered: OrderedField<'c>,
    /// Its level in the graph.
    pub(crate) level: usize,
    /// Whether it follows from another field that the unit refreshes.
    pub(crate) follows_derived: bool,
}

impl Catalog {
    /// Builds the graph of these relations.
    pub(crate) fn new(relations: Relations, pending: BTreeSet<String>, epoch: i64) -> Result<Self> {
        check::check(&relations)?;
        let graph = DerivedGraph::new(&relations.derived)?;
        let mut nodes: HashMap<String, CollectionNode> = HashMap::new();
        for collection in &relations.collections {
            let node = nodes.entry(collection.name.clone()).or_default();
            node.write_fields.clone_from(&collection.write_fields);
        }
        for (at, edge) in relations.edges.iter().enumerate() {
            let node = nodes.entry(edge.from.clone()).or_default();
            node.out.push(at);
            node.followed.insert(edge.path.clone());
            nodes.entry(edge.to.clone()).or_default().into.push(at);
        }
        for (at, field) in relations.derived.iter().enumerate() {
            let node = nodes.entry(field.holder().to_owned()).or_default();
            node.followed.insert(field.path().into_owned());
            for read in field.reads() {
                let node = nodes.entry(read.collection.to_owned()).or_default();
                node.followed.insert(read.path.into_owned());
                if node.readers.last() != Some(&at) {
                    node.readers.push(at);
                }
            }
        }
        for (at, level) in graph.levels.iter().enumerate() {
            for source in graph.sources_of(level) {
                let holder = relations.derived[source].holder();
                let node = nodes.entry(holder.to_owned()).or_default();
                node.last_read_level = Some(at);
            }
        }
        for split in &relations.splits {
            for collection in [&split.hot, &split.cold] {
                nodes.entry(collection.clone()).or_default().is_split = true;
            }
        }
        let mut validators: HashMap<String, Arc<Vec<ActiveValidator>>> = HashMap::new();
        for validator in &relations.validators {
            let of = validators.entry(validator.collection.clone()).or_default();
            Arc::get_mut(of)
                .expect("nobody else has it yet")
                .push(ActiveValidator::new(validator)?);
        }
        Ok(Catalog {
            pending_fields: pending::pending_fields(&relations, &pending),
            copied: copied::copied_fields(&relations),
            relations,
            graph,
            nodes,
            pending,
            validators,
            rules: HashMap::new(),
            views: BTreeMap::new(),
            owners: Vec::new(),
            named: HashMap::new(),
            unnamed: HashMap::new(),
            unique: HashMap::new(),
            read_checks: HashMap::new(),
            epoch,
            is_changing: false,
        })
    }

    /// Adds the parts that are not stored: the checks of a program's models, which are functions, and the fields that only models of other
    /// programs name.
    pub(crate) fn for_program(mut self, models: &[&'static Model]) -> Self {
        for model in models {
            if let Some(named) = self.named.get(model.collection) {
                let own = (model.shape)().names();
                let others = named.iter().filter(|name| !own.contains(&name.as_str()));
                let others: BTreeSet<String> = others.cloned().collect();
                if !others.is_empty() {
                    self.unnamed.insert(model.collection.to_owned(), others);
                }
            }
        }
        self.with_checks(models)
    }

    /// Refuses a program that must not go on beside the present declarations.
    ///
    /// # Errors
    ///
    /// `Schema` if it is older than the oldest version of its database that may open.
    pub(crate) fn check_program(&self, name: &str, version: u32) -> Result<()> {
        let mut owners = self.owners.iter();
        owners.try_for_each(|owner| owner.check_program(name, version))
    }

    /// Refuses a write to a collection that is being migrated, and to a view.
    ///
    /// # Errors
    ///
    /// `Migrating`; the error of [`refuse_view`](Catalog::refuse_view).
    pub(crate) fn check_write(&self, collection: &str) -> Result<()> {
        self.refuse_view(collection)?;
        let mut owners = self.owners.iter();
        owners.try_for_each(|owner| owner.check_write(collection))
    }

    /// The rule of a collection, if it has one.
    pub(crate) fn rule_of(&self, collection: &str) -> Option<&ValidationRule> {
        self.rules.get(collection)
    }

    /// The number of changes of the stored catalog that led to this one.
    pub(crate) fn epoch(&self) -> i64 {
        self.epoch
    }

    /// Whether a database is about to change the declarations.
    pub(crate) fn is_changing(&self) -> bool {
        self.is_changing
    }

    /// The fields at the top of documents of a collection that only models of other programs name.
    pub(crate) fn unnamed_in(&self, collection: &str) -> Option<&BTreeSet<String>> {
        self.unnamed.get(collection)
    }

    /// All relations.
    pub(crate) fn relations(&self) -> &Relations {
        &self.relations
    }

    /// The names of the collections.
    pub(crate) fn collections(&self) -> impl Iterator<Item = &str> {
        let all = self.relations.collections.iter();
        all.map(|collection| collection.name.as_str())
    }

    /// Whether a model declares the collection, or a part of its documents that is stored there.
    pub(crate) fn is_declared(&self, collection: &str) -> bool {
        self.collections().any(|name| name == collection) || self.split_in(collection).is_some()
    }

    /// The collection whose documents hold a field that is named as `collection.path`.
    pub(crate) fn holder_of<'f>(&self, field: &'f str) -> &'f str {
        self.relations.holder_of(field)
    }

    /// Whether a field that is named as `collection.path` is derived, or a version.
    pub(crate) fn is_computed(&self, field: &str) -> bool {
        self.relations.derived(field).is_some()
            || self.relations.versions().any(|version| version == field)
    }

    /// The derived fields in levels: the fields of a level read only fields of earlier levels, and base data.
    pub(crate) fn levels(&self) -> impl Iterator<Item = Vec<OrderedField<'_>>> {
        let ordered = |level: usize, &at: &'_ usize| {
            let field = &self.relations.derived[at];
            let node = self.nodes.get(field.holder());
            let last_read = node.and_then(|node| node.last_read_level);
            OrderedField {
                field,
                is_holder_read: last_read.is_some_and(|last| last >= level),
                is_read: !self.graph.dependents[at].is_empty(),
                is_pending: self.is_pending(field.holder(), &field.path()),
            }
        };
        let levels = self.graph.levels.iter().enumerate();
        levels.map(move |(at, level)| level.iter().map(|field| ordered(at, field)).collect())
    }

    /// The derived fields that follow from documents of some collections, and from each other if they are refreshed by the
    /// same unit.
    pub(crate) fn following<'c>(
        &'c self,
        is_changed: impl Fn(&DerivedField) -> bool,
        is_refreshed: impl Fn(&DerivedField) -> bool,
    ) -> Vec<Following<'c>> {
        let mut follows_derived = vec![false; self.relations.derived.len()];
        let mut following = Vec::new();
        for (level, (places, fields)) in self.graph.levels.iter().zip(self.levels()).enumerate() {
            for (&at, ordered) in places.iter().zip(fields) {
                let is_following = follows_derived[at] || is_changed(ordered.field);
                if is_following && is_refreshed(ordered.field) {
                    following.push(Following {
                        ordered,
                        level,
                        follows_derived: follows_derived[at],
                    });
                    for &dependent in &self.graph.dependents[at] {
                        follows_derived[dependent] = true;
                    }
                }
            }
        }
        following
    }

    /// Whether a unit may try unread updates of documents of a collection: not for some units after a missed one.
    pub(crate) fn tries_unread(&self, collection: &str) -> bool {
        let node = self.nodes.get(collection);
        node.is_some_and(|node| {
            let reads_for = |number: u32| number.checked_sub(1);
            let relaxed = Ordering::Relaxed;
            node.reads_for
                .fetch_update(relaxed, relaxed, reads_for)
                .is_err()
        })
    }

    /// Lets the next units read the documents of a collection.
    pub(crate) fn missed_unread(&self, collection: &str) {
        /// If unread updates always miss, one unit in so many tries them in vain.
        const UNITS: u32 = 50;
        if let Some(node) = self.nodes.get(collection) {
            node.reads_for.store(UNITS, Ordering::Relaxed);
        }
    }

    /// The derived fields in documents of a collection.
    pub(crate) fn derived_in(&self, collection: &str) -> impl Iterator<Item = &DerivedField> {
        let all = self.relations.derived.iter();
        all.filter(move |field| field.holder() == collection)
    }

    /// Whether a field is deferred: the worker of the outbox refreshes it.
    pub(crate) fn has_deferred(&self) -> bool {
        self.relations
            .derived
            .iter()
            .any(|field| field.is_deferred())
    }

    /// The subsets in documents of a collection.
    pub(crate) fn subsets_in(&self, collection: &str) -> impl Iterator<Item = &SubsetDefinition> {
        self.derived_in(collection)
            .filter_map(SubsetDefinition::from_derived)
    }

    /// Whether each document that is referred to along an edge counts all its referrers along it, within the unit.
    pub(crate) fn is_counted(&self, edge: &Edge) -> bool {
        let counts = self.derived_in(&edge.to);
        let mut counts = counts.filter_map(CountDefinition::from_derived);
        counts.any(|CountDefinition(count)| {
            (&count.child, &count.reference) == (&edge.from, &edge.path)
                && count.filter == ChildFilter::default()
                && !count.deferred
                && !self.is_pending(&count.parent, &count.path)
        })
    }

    /// Whether something follows from a list of references, or from the record of its change in the document.
    pub(crate) fn is_list_read(&self, list: &Edge) -> bool {
        let Some(node) = self.nodes.get(&list.from) else {
            return false;
        };
        let changed = || node.write_fields.changing().chain([&*list.path]);
        let reads = |&at: &usize| {
            let mut reads = self.relations.derived[at].reads().into_iter();
            reads.any(|read| {
                let is_changed =
                    read.path.is_empty() || changed().any(|path| path::overlap(&read.path, path));
                read.collection == list.from && is_changed
            })
        };
        node.is_split || node.readers.iter().any(reads)
    }

    /// The references in documents of a collection.
    pub(crate) fn edges_from(&self, collection: &str) -> impl Iterator<Item = &Edge> {
        let node = self.nodes.get(collection);
        node.into_iter()
            .flat_map(|node| &node.out)
            .map(|&edge| &self.relations.edges[edge])
    }

    /// The references to documents of a collection.
    pub(crate) fn edges_into(&self, collection: &str) -> impl Iterator<Item = &Edge> {
        let node = self.nodes.get(collection);
        node.into_iter()
            .flat_map(|node| &node.into)
            .map(|&edge| &self.relations.edges[edge])
    }

    /// The reference at a path in documents of a collection.
    pub(crate) fn edge(&self, collection: &str, path: &str) -> Option<&Edge> {
        self.edges_from(collection).find(|edge| edge.path == path)
    }

    /// The derived fields of whole documents of a collection, cold parts included, each with the
    /// collection that it is computed from.
    pub(crate) fn read_only_in(&self, collection: &str) -> Vec<(String, &str)> {
        let own = self.derived_in(collection);
        let mut fields: Vec<(String, &str)> = own
            .map(|field| (field.path().into_owned(), field.source()))
            .collect();
        for split in self.splits_of(collection) {
            let inside = self.read_only_in(&split.cold).into_iter();
            fields.extend(inside.map(|(path, source)| (join(&split.path, &path), source)));
        }
        fields
    }

    /// The inverse of a reference.
    pub(crate) fn inverse_of(&self, edge: &Edge) -> Option<&Edge> {
        self.edge(&edge.to, edge.inverse.as_deref()?)
    }

    /// Whether the documents of a collection have a derived field, a reference or a cold part.
    pub(crate) fn has_relations(&self, collection: &str) -> bool {
        self.derived_in(collection).next().is_some()
            || self.version(collection).is_some()
            || self.edges_from(collection).any(Edge::is_certain)
            || self.nodes.get(collection).is_some_and(|node| node.is_split)
    }

    /// The path of the field that counts the changes of a document of a collection.
    pub(crate) fn version(&self, collection: &str) -> Option<&str> {
        self.nodes.get(collection)?.write_fields.version.as_deref()
    }

    /// The fields of the documents of a collection in which their writes are recorded, if there are any.
    pub(crate) fn write_fields(&self, collection: &str) -> Option<&WriteFields> {
        let node = self.nodes.get(collection)?;
        Some(&node.write_fields).filter(|fields| !fields.is_empty())
    }
}

/// Joins a path and the name of a field there.
pub(crate) fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

/// A path of a filter or an update without the positions in lists.
pub(crate) fn without_positions(path: &str) -> String {
    let names = path
        .split('.')
        .filter(|step| *step != "$" && !step.starts_with("$[") && path::position(step).is_none());
    names.collect::<Vec<_>>().join(".")
}

fn schema(message: String) -> Error {
    Error::new(ErrorKind::Schema, message)
}

/// Passes the `_id`s at the path of a reference, in order, through arrays. A value that is missing
/// or null refers to nothing.
pub(crate) fn references<'a>(
    document: &'a RawDocument,
    path: &str,
    mut each: impl FnMut(RawBsonRef<'a>),
) {
    each_reference(document, path, &mut each);
}

/// [`references`], compiled once.
fn each_reference<'a>(document: &'a RawDocument, path: &str, each: &mut dyn FnMut(RawBsonRef<'a>)) {
    path::visit(document, path, Leaf::Elements, &mut |value| {
        match value {
            None | Some(RawBsonRef::Null | RawBsonRef::Array(_)) => {}
            Some(id) => each(id),
        }
        false
    });
}
