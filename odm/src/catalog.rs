//! The relations of all models as data: what leads where, and the collections and indexes that
//! this needs.
//!
//! It is made of what the derives state, stored beside the data when a database is opened, and read
//! from there, with what other databases on the same store have stated. `maintain` follows it on every
//! write, and knows nothing of Rust types.

mod build;
mod copies;
mod indexes;
mod relations;
mod split;
mod stored;
mod walk;

use std::collections::{BTreeSet, HashMap};

use bson::{RawBsonRef, RawDocument};
use serde::{Deserialize, Serialize};

pub(crate) use build::declared_by;
pub(crate) use copies::{Along, Copied, join};
pub(crate) use relations::Collection;
pub use relations::Relations;
pub(crate) use split::{Half, Split, value_of};
pub(crate) use stored::{complete, declare, is_current, load, spec};

pub(crate) use crate::model::OnDelete;
use crate::{
    error::Result,
    mql::{
        Filter, Sort,
        path::{self, Leaf},
    },
};

/// All relations that are in force.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    relations: Relations,
    nodes: HashMap<String, Node>,
    /// In the order in which they follow each other.
    copies: Vec<Vec<Copied>>,
    /// The places that older documents may not follow yet.
    building: BTreeSet<String>,
    /// Which state of the stored catalog this is.
    stamp: i64,
}

/// One collection in the graph.
#[derive(Debug, Default)]
struct Node {
    /// The path of the field that counts the changes of a document.
    version: Option<String>,
    /// The edges that start here, by their place in `Relations::edges`.
    out: Vec<usize>,
    /// The edges that end here.
    into: Vec<usize>,
}

/// One reference: a path in the documents of one collection, whose values are `_id`s of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Edge {
    /// The collection of the holder.
    pub(crate) from: String,
    /// The path of the reference in the holder, through arrays.
    pub(crate) path: String,
    /// The collection that is referred to.
    pub(crate) to: String,
    /// How many there are at the end of the path.
    pub(crate) holds: Cardinality,
    /// The path of the innermost list around it, or of itself if it is a list.
    pub(crate) list: Option<String>,
    /// Whether it may lead nowhere.
    pub(crate) unchecked: bool,
    /// What a delete of what it leads to does.
    pub(crate) on_delete: OnDelete,
    /// The path of the other side of a pair, in the documents that this leads to.
    pub(crate) inverse: Option<String>,
}

impl Edge {
    /// Whether it always leads somewhere.
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

/// The number of children of a parent, in the parent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Count {
    /// The collection of the holder.
    pub(crate) parent: String,
    /// The path of the number in the holder.
    pub(crate) path: String,
    /// The collection of the children.
    pub(crate) child: String,
    /// The path of the children's reference to the holder.
    pub(crate) reference: String,
    /// Which children count.
    #[serde(with = "relations::as_bytes")]
    pub(crate) filter: Filter,
}

/// One bounded array of children in their parent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Subset {
    /// The collection of the holder.
    pub(crate) parent: String,
    /// The path of the array in the holder.
    pub(crate) path: String,
    /// The collection of the children.
    pub(crate) child: String,
    /// The path of the children's reference to the holder.
    pub(crate) reference: String,
    /// The total order of the children in the array.
    #[serde(with = "relations::as_list")]
    pub(crate) sort: Sort,
    /// How many; the last ones if it is negative.
    pub(crate) limit: i64,
    /// The fields that are shown; none for all.
    pub(crate) shown: Option<Vec<String>>,
    /// Which children count.
    #[serde(with = "relations::as_bytes")]
    pub(crate) filter: Filter,
}

impl Catalog {
    /// The graph of these relations.
    pub(crate) fn of(relations: Relations, building: BTreeSet<String>, stamp: i64) -> Result<Self> {
        let mut nodes: HashMap<String, Node> = HashMap::new();
        for collection in &relations.collections {
            let node = nodes.entry(collection.name.clone()).or_default();
            node.version.clone_from(&collection.version);
        }
        for (at, edge) in relations.edges.iter().enumerate() {
            nodes.entry(edge.from.clone()).or_default().out.push(at);
            nodes.entry(edge.to.clone()).or_default().into.push(at);
        }
        let mut relations = relations;
        relations.counts = copies::counts_in_order(relations.counts)?;
        Ok(Catalog {
            copies: copies::in_order(relations.copies.clone())?,
            relations,
            nodes,
            building,
            stamp,
        })
    }

    /// The names of the collections.
    pub(crate) fn collections(&self) -> impl Iterator<Item = &str> {
        let all = self.relations.collections.iter();
        all.map(|collection| collection.name.as_str())
    }

    /// The places that older documents may not follow yet, as `collection.path`.
    pub(crate) fn building(&self) -> &BTreeSet<String> {
        &self.building
    }

    /// The collection whose documents hold what is at a place.
    pub(crate) fn holder<'p>(&self, place: &'p str) -> &'p str {
        self.relations.holder(place)
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

    /// The fields of documents of a collection that the library keeps, each with the collection that
    /// it keeps them from.
    pub(crate) fn kept_in(&self, collection: &str) -> Vec<(String, &str)> {
        let mut kept = Vec::new();
        for subset in self.subsets_in(collection) {
            kept.push((subset.path.clone(), subset.child.as_str()));
        }
        for count in self.counts_in(collection) {
            kept.push((count.path.clone(), count.child.as_str()));
        }
        for copy in self.copies_in(collection) {
            kept.push((copy.path(), copy.source.as_str()));
        }
        for split in self.splits_of(collection) {
            let inside = self.kept_in(&split.cold).into_iter();
            kept.extend(inside.map(|(path, source)| (join(&split.path, &path), source)));
        }
        kept
    }

    /// The counts in documents of a collection.
    pub(crate) fn counts_in(&self, collection: &str) -> impl Iterator<Item = &Count> {
        let all = self.relations.counts.iter();
        all.filter(move |count| count.parent == collection)
    }

    /// The other side of a pair.
    pub(crate) fn inverse_of(&self, edge: &Edge) -> Option<&Edge> {
        self.edge(&edge.to, edge.inverse.as_deref()?)
    }

    /// All counts.
    pub(crate) fn counts(&self) -> &[Count] {
        &self.relations.counts
    }

    /// All subsets.
    pub(crate) fn subsets(&self) -> &[Subset] {
        &self.relations.subsets
    }

    /// The subsets in documents of a collection.
    pub(crate) fn subsets_in(&self, collection: &str) -> impl Iterator<Item = &Subset> {
        self.relations
            .subsets
            .iter()
            .filter(move |subset| subset.parent == collection)
    }

    /// Whether anything in the documents of a collection follows from other documents.
    pub(crate) fn is_derived(&self, collection: &str) -> bool {
        self.subsets_in(collection).next().is_some()
            || self.copies_in(collection).next().is_some()
            || self.edges_from(collection).any(Edge::is_certain)
            || self.counts_in(collection).next().is_some()
            || self
                .relations
                .splits
                .iter()
                .any(|split| split.hot == collection || split.cold == collection)
    }

    /// The path of the field that counts the changes of a document of a collection.
    pub(crate) fn version(&self, collection: &str) -> Option<&str> {
        self.nodes.get(collection)?.version.as_deref()
    }
}

/// Hands over the ids at the path of a reference, in order, through arrays. What is missing or null
/// refers to nothing.
pub(crate) fn references<'a>(
    document: &'a RawDocument,
    path: &str,
    mut each: impl FnMut(RawBsonRef<'a>),
) {
    path::visit(document, path, Leaf::Elements, &mut |value| {
        match value {
            None | Some(RawBsonRef::Null | RawBsonRef::Array(_)) => {}
            Some(id) => each(id),
        }
        false
    });
}
