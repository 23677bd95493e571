//! The relations as they are declared and stored.

use std::{collections::BTreeSet, fmt::Write as _};

use bson::{Binary, Document, spec::BinarySubtype};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use super::{Copied, Count, Edge, Split, Subset};
use crate::mql::{Direction, Filter, Sort};

/// What the models of a database state of each other.
///
/// It is stored beside the data, so that a program that has only some of the models keeps right what
/// the others derive from them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Relations {
    pub(crate) collections: Vec<Collection>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) splits: Vec<Split>,
    pub(crate) copies: Vec<Copied>,
    pub(crate) counts: Vec<Count>,
    pub(crate) subsets: Vec<Subset>,
}

/// One collection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Collection {
    pub(crate) name: String,
    /// The name of the Rust type, for messages.
    pub(crate) model: String,
    /// The path of the field that counts the changes of a document.
    pub(crate) version: Option<String>,
}

impl Relations {
    /// The relations as a diagram in the language of Mermaid: a node for each collection; an arrow for
    /// each reference, a dotted one from a source to its copies and counts, and a thick one to the
    /// subsets that show a collection and to halves that are stored apart.
    pub fn mermaid(&self) -> String {
        let mut text = "flowchart LR\n".to_owned();
        let node = |name: &str| {
            let at = self.collections.iter().position(|of| of.name == name);
            at.map_or_else(|| name.to_owned(), |at| format!("c{at}"))
        };
        for collection in &self.collections {
            let name = node(&collection.name);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "    {name}[\"{}\"]", collection.name);
        }
        let mut arrow = |from: &str, arrow: &str, label: String, to: &str| {
            let _ = writeln!(text, "    {} {arrow}|\"{label}\"| {}", node(from), node(to));
        };
        for edge in &self.edges {
            arrow(&edge.from, "-->", edge.path.clone(), &edge.to);
        }
        for copy in &self.copies {
            let label = format!("{} to {}", copy.value, copy.path());
            arrow(&copy.source, "-.->", label, &copy.holder);
        }
        for count in &self.counts {
            arrow(
                &count.child,
                "-.->",
                format!("counted in {}", count.path),
                &count.parent,
            );
        }
        for subset in &self.subsets {
            arrow(
                &subset.child,
                "==>",
                format!("shown in {}", subset.path),
                &subset.parent,
            );
        }
        for split in &self.splits {
            arrow(
                &split.hot,
                "==>",
                format!("{} apart", split.path),
                &split.cold,
            );
        }
        text
    }

    /// The places of everything that follows from other documents, as `collection.path`.
    pub(crate) fn places(&self) -> BTreeSet<String> {
        let edges = self.edges.iter().map(|edge| place(&edge.from, &edge.path));
        let splits = self
            .splits
            .iter()
            .map(|split| place(&split.hot, &split.path));
        let copies = self
            .copies
            .iter()
            .map(|copy| place(&copy.holder, &copy.path()));
        let counts = self
            .counts
            .iter()
            .map(|count| place(&count.parent, &count.path));
        let subsets = self
            .subsets
            .iter()
            .map(|subset| place(&subset.parent, &subset.path));
        edges
            .chain(splits)
            .chain(copies)
            .chain(counts)
            .chain(subsets)
            .collect()
    }

    /// The places at which these relations say something that others do not.
    pub(crate) fn beyond(&self, others: &Relations) -> BTreeSet<String> {
        let mut new = self.clone();
        new.edges.retain(|edge| !others.edges.contains(edge));
        new.splits.retain(|split| !others.splits.contains(split));
        new.copies.retain(|copy| !others.copies.contains(copy));
        new.counts.retain(|count| !others.counts.contains(count));
        new.subsets
            .retain(|subset| !others.subsets.contains(subset));
        new.places()
    }

    /// Adds the relations of another owner. Gives the place at which the two contradict each other, if
    /// they do.
    pub(crate) fn add(&mut self, other: Relations) -> Result<(), String> {
        fn merge<T: PartialEq>(
            all: &mut Vec<T>,
            more: Vec<T>,
            place: impl Fn(&T) -> String,
        ) -> Result<(), String> {
            for one in more {
                match all.iter().find(|held| place(held) == place(&one)) {
                    None => all.push(one),
                    Some(held) if *held == one => {}
                    Some(_) => return Err(place(&one)),
                }
            }
            Ok(())
        }
        for collection in other.collections {
            match self
                .collections
                .iter_mut()
                .find(|held| held.name == collection.name)
            {
                None => self.collections.push(collection),
                Some(held) => held.version = held.version.take().or(collection.version),
            }
        }
        merge(&mut self.edges, other.edges, |edge| {
            place(&edge.from, &edge.path)
        })?;
        merge(&mut self.splits, other.splits, |split| {
            place(&split.hot, &split.path)
        })?;
        merge(&mut self.copies, other.copies, |copy| {
            place(&copy.holder, &copy.path())
        })?;
        merge(&mut self.counts, other.counts, |count| {
            place(&count.parent, &count.path)
        })?;
        merge(&mut self.subsets, other.subsets, |subset| {
            place(&subset.parent, &subset.path)
        })
    }

    /// The collection whose documents hold what is at a place.
    pub(crate) fn holder<'p>(&self, at: &'p str) -> &'p str {
        let is_of = |name: &&str| {
            at.strip_prefix(*name)
                .is_some_and(|rest| rest.starts_with('.'))
        };
        let names = self
            .collections
            .iter()
            .map(|collection| collection.name.as_str());
        let length = names.filter(is_of).map(str::len).max();
        &at[..length.unwrap_or_default()]
    }
}

fn place(collection: &str, path: &str) -> String {
    format!("{collection}.{path}")
}

/// A filter is stored as it is sent, but as bytes: its operators are no names of fields.
pub(super) mod as_bytes {
    use super::*;

    pub(in crate::catalog) fn serialize<S: Serializer>(
        filter: &Filter,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let bytes = bson::serialize_to_vec(&filter.to_document()).map_err(ser::Error::custom)?;
        let subtype = BinarySubtype::Generic;
        Binary { subtype, bytes }.serialize(serializer)
    }

    pub(in crate::catalog) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Filter, D::Error> {
        let stored = Binary::deserialize(deserializer)?;
        let document: Document =
            bson::deserialize_from_slice(&stored.bytes).map_err(de::Error::custom)?;
        Filter::parse(&document).map_err(de::Error::custom)
    }
}

/// A sort is stored as a list, since its paths are no names of fields either.
pub(super) mod as_list {
    use super::*;

    pub(in crate::catalog) fn serialize<S: Serializer>(
        sort: &Sort,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let keys = sort.keys().iter();
        let keys =
            keys.map(|(path, direction)| (path.as_ref(), *direction == Direction::Descending));
        serializer.collect_seq(keys)
    }

    pub(in crate::catalog) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Sort, D::Error> {
        let keys = Vec::<(String, bool)>::deserialize(deserializer)?;
        Ok(keys
            .into_iter()
            .fold(Sort::new(), |sort, (path, descending)| {
                let direction = if descending {
                    Direction::Descending
                } else {
                    Direction::Ascending
                };
                sort.by(path, direction)
            }))
    }
}
