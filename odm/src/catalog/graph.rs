//! The graph of derived fields: their dependencies, and the order in which they are refreshed.

use std::collections::{BTreeSet, HashMap};

use odm_mql::path;
use odm_store::Result;

use super::{DerivedField, schema};

/// The order of the derived fields, by their positions in the list of all.
#[derive(Debug, Default)]
pub(super) struct DerivedGraph {
    /// Every field reads only fields of earlier levels, and base data.
    pub(super) levels: Vec<Vec<usize>>,
    /// For each field, the fields that read it.
    pub(super) dependents: Vec<Vec<usize>>,
}

impl DerivedGraph {
    /// # Errors
    ///
    /// `Schema` if derived fields follow from each other in a cycle, naming them.
    pub(super) fn new(derived: &[DerivedField]) -> Result<Self> {
        let sources = sources(derived);
        let mut dependents = vec![Vec::new(); derived.len()];
        for (field, sources) in sources.iter().enumerate() {
            for &source in sources {
                dependents[source].push(field);
            }
        }
        let mut missing: Vec<usize> = sources.iter().map(Vec::len).collect();
        let mut levels = Vec::new();
        let mut level: Vec<usize> = (0..derived.len()).filter(|&at| missing[at] == 0).collect();
        let mut placed = 0;
        while !level.is_empty() {
            placed += level.len();
            let mut next = Vec::new();
            for &field in level.iter().flat_map(|&source| &dependents[source]) {
                missing[field] -= 1;
                if missing[field] == 0 {
                    next.push(field);
                }
            }
            next.sort_unstable();
            levels.push(std::mem::replace(&mut level, next));
        }
        if placed < derived.len() {
            return Err(schema(cycle(derived, &sources, &missing)));
        }
        Ok(DerivedGraph { levels, dependents })
    }

    /// The fields from which any of these is computed.
    pub(super) fn sources_of(&self, fields: &[usize]) -> impl Iterator<Item = usize> {
        let all = self.dependents.iter().enumerate();
        let read = all.filter(|(_, dependents)| dependents.iter().any(|at| fields.contains(at)));
        read.map(|(source, _)| source)
    }
}

/// Adds all fields that are computed from any of these, which are named as `collection.path`.
pub(super) fn close_over_dependents(derived: &[DerivedField], fields: &mut BTreeSet<String>) {
    let sources = sources(derived);
    let name = |field: &DerivedField| format!("{}.{}", field.holder(), field.path());
    loop {
        let before = fields.len();
        for (field, sources) in derived.iter().zip(&sources) {
            let mut sources = sources.iter();
            if sources.any(|&source| fields.contains(&name(&derived[source]))) {
                fields.insert(name(field));
            }
        }
        if fields.len() == before {
            return;
        }
    }
}

/// Adds the fields that these fields are computed from.
pub(super) fn close_over_sources(derived: &[DerivedField], fields: &mut BTreeSet<String>) {
    let sources = sources(derived);
    let name = |field: &DerivedField| format!("{}.{}", field.holder(), field.path());
    loop {
        let before = fields.len();
        for (field, sources) in derived.iter().zip(&sources) {
            if fields.contains(&name(field)) {
                fields.extend(sources.iter().map(|&source| name(&derived[source])));
            }
        }
        if fields.len() == before {
            return;
        }
    }
}

/// For each field, the positions of the fields that its definition reads.
fn sources(derived: &[DerivedField]) -> Vec<Vec<usize>> {
    let mut by_holder: HashMap<&str, Vec<(usize, String)>> = HashMap::new();
    for (at, field) in derived.iter().enumerate() {
        let fields = by_holder.entry(field.holder()).or_default();
        fields.push((at, field.path().into_owned()));
    }
    let sources = derived.iter().map(|field| {
        let mut sources = Vec::new();
        for read in field.reads() {
            for (at, path) in by_holder.get(read.collection).into_iter().flatten() {
                if read.path.is_empty() || path::overlap(&read.path, path) {
                    sources.push(*at);
                }
            }
        }
        sources.sort_unstable();
        sources.dedup();
        sources
    });
    sources.collect()
}

/// Describes a cycle among the fields that could not be placed.
fn cycle(derived: &[DerivedField], sources: &[Vec<usize>], missing: &[usize]) -> String {
    // Each of them reads another of them, so a walk along these reads returns to a visited field.
    let mut walk: Vec<usize> = Vec::new();
    let mut at = missing.iter().position(|&missing| missing > 0);
    while let Some(field) = at {
        if let Some(start) = walk.iter().position(|&other| other == field) {
            walk.drain(..start);
            walk.push(field);
            break;
        }
        walk.push(field);
        let mut sources = sources[field].iter().copied();
        at = sources.find(|&source| missing[source] > 0);
    }
    let names = walk.iter().map(|&field| {
        let field = &derived[field];
        format!("{}.{}", field.holder(), field.path())
    });
    let names: Vec<String> = names.collect();
    format!(
        "cyclic derived fields: {}; remove one of them. The cycle is one of fields: that the documents \
         along it may differ, as in a tree, does not break it. In a tree, `#[ancestors(..)]` \
         has the documents above each one",
        names.join(" <- ")
    )
}

#[cfg(test)]
mod tests {
    use odm_mql::{Direction, Filter, Sort, Test};

    use super::*;
    use crate::catalog::{Along, Children, CopyDefinition, CountDefinition, SubsetDefinition};

    fn copy(holder: &str, name: &str, source: &str, value: &str) -> DerivedField {
        DerivedField::from(CopyDefinition {
            holder: holder.to_owned(),
            within: String::new(),
            name: name.to_owned(),
            source: source.to_owned(),
            value: value.to_owned(),
            along: Along::Local("of".to_owned()),
            frozen: false,
            optional: false,
            deferred: false,
        })
    }

    fn count(parent: &str, path: &str, child: &str, filter: Filter) -> DerivedField {
        DerivedField::from(CountDefinition(Children {
            parent: parent.to_owned(),
            path: path.to_owned(),
            child: child.to_owned(),
            reference: "parent".to_owned(),
            filter: filter.into(),
            deferred: false,
        }))
    }

    fn subset(parent: &str, path: &str, child: &str, sort: &str, shown: &[&str]) -> DerivedField {
        DerivedField::from(SubsetDefinition {
            parent: parent.to_owned(),
            path: path.to_owned(),
            child: child.to_owned(),
            reference: "parent".to_owned(),
            sort: Sort::new()
                .by(sort.to_owned(), Direction::Descending)
                .total(),
            limit: 10,
            shown: Some(shown.iter().map(|&name| name.to_owned()).collect()),
            filter: Default::default(),
            deferred: false,
        })
    }

    fn reads(path: &str) -> Filter {
        Filter::Path(path.to_owned().into(), Test::Exists(true))
    }

    fn message(derived: &[DerivedField]) -> String {
        DerivedGraph::new(derived).unwrap_err().to_string()
    }

    #[test]
    fn a_subset_sorted_by_the_count_of_its_children_comes_after_it() {
        let derived = [
            subset("blogs", "top", "posts", "comment_count", &["title"]),
            count("posts", "comment_count", "comments", Filter::default()),
            copy("shelves", "top", "blogs", "top"),
        ];
        let graph = DerivedGraph::new(&derived).unwrap();
        assert_eq!(graph.levels, [vec![1], vec![0], vec![2]]);
        assert_eq!(graph.dependents, [vec![2], vec![0], vec![]]);
    }

    #[test]
    fn a_count_of_children_and_a_subset_sorted_by_it_are_legal_in_one_tree() {
        let derived = [
            subset("nodes", "largest", "nodes", "size", &["name"]),
            count("nodes", "size", "nodes", Filter::default()),
        ];
        assert_eq!(
            DerivedGraph::new(&derived).unwrap().levels,
            [vec![1], vec![0]]
        );
    }

    #[test]
    fn a_filter_reads_its_paths_without_positions() {
        let derived = [
            count("shops", "unreviewed", "products", reads("reviews.0.text")),
            subset("products", "reviews", "reviews", "date", &["text"]),
        ];
        assert_eq!(
            DerivedGraph::new(&derived).unwrap().levels,
            [vec![1], vec![0]]
        );
    }

    #[test]
    fn cycles_over_kinds_name_their_fields() {
        let derived = [
            copy("products", "maker_name", "makers", "name"),
            count("makers", "unnamed", "products", reads("label")),
            copy("products", "label", "makers", "unnamed"),
        ];
        let text = message(&derived);
        assert!(
            text.starts_with(
                "cyclic derived fields: makers.unnamed <- products.label <- makers.unnamed; remove"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_copy_of_the_same_field_of_the_parent_is_a_cycle_although_a_tree_has_an_end() {
        let text = message(&[copy("nodes", "root_name", "nodes", "root_name")]);
        assert!(
            text.contains("nodes.root_name <- nodes.root_name"),
            "{text}"
        );
    }

    #[test]
    fn a_field_follows_from_what_holds_it_and_from_what_it_holds() {
        let derived = [
            copy("a", "x", "b", "y.z"),
            copy("b", "y", "c", "v"),
            copy("c", "v.w", "d", "u"),
        ];
        let levels = DerivedGraph::new(&derived).unwrap().levels;
        assert_eq!(levels, [vec![2], vec![1], vec![0]]);
    }
}
