//! The order of the collections of an export, and the references that lead from one to another.

use std::collections::HashMap;

use bson::{RawBson, RawDocument};

use super::scope::TransferredCollection;
use crate::catalog::{Catalog, Edge, references};

/// A collection that is exported.
pub(super) struct Exported {
    pub(super) name: String,
    /// The fields that are cold parts.
    pub(super) cold: Vec<String>,
    /// The paths of the references that must not dangle, each with the position of the collection that it names.
    pub(super) references: Vec<(String, usize)>,
}

impl Exported {
    pub(super) fn cold(&self) -> Vec<&str> {
        self.cold.iter().map(String::as_str).collect()
    }
}

/// The collections in the order of their export: each after the collections that it refers to, unless they are in a cycle.
pub(super) fn in_order(collections: &[TransferredCollection], catalog: &Catalog) -> Vec<Exported> {
    let places = collections.iter().enumerate();
    let places: HashMap<&str, usize> = places.map(|(at, of)| (of.name.as_str(), at)).collect();
    let named = |at: usize, is_asked: &dyn Fn(&Edge) -> bool| -> Vec<usize> {
        let edges = edges_of(catalog, &collections[at].name);
        let edges = edges.into_iter().filter(|(_, edge)| is_asked(edge));
        edges
            .filter_map(|(_, edge)| places.get(edge.to.as_str()).copied())
            .collect()
    };
    let declared: Vec<usize> = (0..collections.len()).collect();
    // References that may dangle decide only if the others leave the order open.
    let all = sources_first(&declared, &|at| named(at, &|_| true));
    let order = sources_first(&all, &|at| named(at, &Edge::is_certain));
    let mut position = vec![0; collections.len()];
    for (place, &at) in order.iter().enumerate() {
        position[at] = place;
    }
    let exported = order.iter().map(|&at| {
        let TransferredCollection { name, cold } = &collections[at];
        let edges = edges_of(catalog, name).into_iter();
        let edges = edges.filter(|(_, edge)| edge.is_certain());
        let references = edges.filter_map(|(path, edge)| {
            let to = places.get(edge.to.as_str())?;
            Some((path, position[*to]))
        });
        Exported {
            name: name.clone(),
            cold: cold.clone(),
            references: references.collect(),
        }
    });
    exported.collect()
}

/// The references in whole documents of a collection, with their paths there.
pub(super) fn edges_of<'c>(catalog: &'c Catalog, collection: &str) -> Vec<(String, &'c Edge)> {
    let splits = catalog.splits_of(collection);
    let stored = std::iter::once(collection).chain(splits.map(|split| split.cold.as_str()));
    let edges = stored.flat_map(|stored| catalog.edges_from(stored));
    edges
        .map(|edge| (catalog.whole_path(&edge.from, &edge.path).1, edge))
        .collect()
}

/// The `_id`s in a reference of a document.
pub(super) fn targets(document: &RawDocument, path: &str) -> Vec<RawBson> {
    let mut targets = Vec::new();
    references(document, path, |id| targets.push(id.into()));
    targets
}

/// Sorts topologically: each comes after all that it names, and otherwise the order stays. Cycles are broken at some place.
fn sources_first(order: &[usize], named: &dyn Fn(usize) -> Vec<usize>) -> Vec<usize> {
    fn visit(
        at: usize,
        named: &dyn Fn(usize) -> Vec<usize>,
        is_seen: &mut [bool],
        first: &mut Vec<usize>,
    ) {
        if std::mem::replace(&mut is_seen[at], true) {
            return;
        }
        for source in named(at) {
            visit(source, named, is_seen, first);
        }
        first.push(at);
    }
    let mut is_seen = vec![false; order.len()];
    let mut first = Vec::with_capacity(order.len());
    for &at in order {
        visit(at, named, &mut is_seen, &mut first);
    }
    first
}
