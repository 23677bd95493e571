//! Copies of fields of other documents, and the order in which they follow each other.

use serde::{Deserialize, Serialize};

use super::{Catalog, Count, build::schema};
use crate::{error::Result, mql::path};

/// A field that holds a copy of a field of another document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Copied {
    /// The collection of the holder.
    pub(crate) holder: String,
    /// The path of the struct that the copy is in, through lists; empty for the document itself.
    pub(crate) within: String,
    /// The name of the copy in it.
    pub(crate) name: String,
    /// The collection of the source.
    pub(crate) source: String,
    /// The path of the value in the source.
    pub(crate) value: String,
    /// How the source is found.
    pub(crate) along: Along,
    /// It keeps the value of the time of writing.
    pub(crate) frozen: bool,
    /// It can be absent.
    pub(crate) optional: bool,
}

/// The reference between a copy and its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Along {
    /// A reference of this name in the same struct.
    Beside(String),
    /// References at this path in the source lead to the holder: the copies of all such sources.
    Back(String),
}

impl Copied {
    /// The path of the copy in the holder.
    pub(crate) fn path(&self) -> String {
        join(&self.within, &self.name)
    }

    /// The path of the reference in the holder, if the holder has it.
    pub(crate) fn reference(&self) -> Option<String> {
        match &self.along {
            Along::Beside(name) => Some(join(&self.within, name)),
            Along::Back(_) => None,
        }
    }
}

/// A path and a name in what it leads to.
pub(crate) fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

impl Catalog {
    /// The copies in groups: those of a group follow only fields of earlier groups, and base facts.
    pub(crate) fn copies(&self) -> &[Vec<Copied>] {
        &self.copies
    }

    /// The copies in documents of a collection.
    pub(crate) fn copies_in(&self, collection: &str) -> impl Iterator<Item = &Copied> {
        let all = self.copies.iter().flatten();
        all.filter(move |copy| copy.holder == collection)
    }
}

/// Puts counts in the order in which their filters ask for each other.
pub(super) fn counts_in_order(mut left: Vec<Count>) -> Result<Vec<Count>> {
    let asks = |count: &Count, other: &Count| {
        let paths = count.filter.paths();
        other.parent == count.child && paths.iter().any(|path| path::overlap(path, &other.path))
    };
    let mut ordered = Vec::new();
    while !left.is_empty() {
        let ready = |count: &Count| !left.iter().any(|other| asks(count, other));
        let Some(next) = left.iter().position(ready) else {
            let names: Vec<String> = left
                .iter()
                .map(|count| format!("`{}.{}`", count.parent, count.path))
                .collect();
            return Err(schema(format!(
                "counts ask for each other in a circle: {}",
                names.join(", ")
            )));
        };
        ordered.push(left.remove(next));
    }
    Ok(ordered)
}

/// Puts copies in the order in which they follow each other.
pub(super) fn in_order(mut copies: Vec<Copied>) -> Result<Vec<Vec<Copied>>> {
    let mut groups = Vec::new();
    while !copies.is_empty() {
        let waits = |copy: &Copied, on: &[Copied]| on.iter().any(|other| follows(copy, other));
        let waiting: Vec<bool> = copies.iter().map(|copy| waits(copy, &copies)).collect();
        let mut each = waiting.iter();
        let (later, group): (Vec<Copied>, Vec<Copied>) =
            copies.into_iter().partition(|_| each.next() == Some(&true));
        if group.is_empty() {
            // The derive of the database finds all circles but those through recursive embeds.
            let names: Vec<String> = later
                .iter()
                .map(|copy| format!("`{}.{}`", copy.holder, copy.path()))
                .collect();
            return Err(schema(format!(
                "copies go in a circle: {}",
                names.join(", ")
            )));
        }
        groups.push(group);
        copies = later;
    }
    Ok(groups)
}

/// Whether a copy is one of another copy, or of what holds it or is in it.
fn follows(copy: &Copied, other: &Copied) -> bool {
    copy.source == other.holder && path::overlap(&copy.value, &other.path())
}
