//! The operations of an update as a tree over the parts of their paths.
//!
//! The tree is built for each application, from references, since a rename takes part in it with a value from the document.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, btree_map::Entry},
};

use bson::RawBsonRef;

use super::Operation;
use crate::{Error, error::code, path, steps};

/// A node: the part of an update below one path.
#[derive(Debug, Clone)]
pub(super) enum TreeNode<'u> {
    Leaf(TreeLeaf<'u>),
    /// Operations on fields of a document, or on elements of an array by their positions.
    Fields(TreeNodes<'u>),
    /// Operations on elements of an array by array filters. The empty name stands for all elements, a number for the element at that
    /// position.
    Elements(TreeNodes<'u>),
}

/// Nodes by the parts of paths that lead to them.
pub(super) type TreeNodes<'u> = BTreeMap<Part<'u>, TreeNode<'u>>;

/// A part of a path, in the order of new fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part<'u>(pub(super) &'u str);

impl Ord for Part<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        steps::step();
        compare_parts(self.0, other.0)
    }
}

impl PartialOrd for Part<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The end of a path.
#[derive(Debug, Clone, Copy)]
pub(super) struct TreeLeaf<'u> {
    /// The whole path.
    pub(super) path: &'u str,
    pub(super) action: Action<'u>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Action<'u> {
    Operation(&'u Operation),
    /// Sets the field to the value of the renamed path.
    Receive(RawBsonRef<'u>),
    /// Removes the field, since it was renamed.
    Release,
    /// Leaves the field.
    Nothing,
}

impl<'u> TreeNode<'u> {
    pub(super) fn root() -> TreeNode<'u> {
        TreeNode::Fields(TreeNodes::new())
    }

    /// Adds a leaf. Two leaves conflict if their paths are equal or one is a prefix of the other.
    pub(super) fn insert(&mut self, leaf: TreeLeaf<'u>) -> Result<(), Error> {
        check_path(leaf.path)?;
        let mut node = self;
        let mut rest = Some(leaf.path);
        while let Some(path) = rest {
            let (part, next) = path::split(path);
            let (nodes, part) = match (node, array_filter(part)) {
                (TreeNode::Fields(nodes), None) => (nodes, part),
                (TreeNode::Elements(nodes), Some(name)) => (nodes, name),
                (node, _) => return Err(conflict(leaf.path, node)),
            };
            node = match nodes.entry(Part(part)) {
                Entry::Occupied(known) if next.is_none() => {
                    return Err(conflict(leaf.path, known.get()));
                }
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => {
                    place.insert(match next.map(|next| array_filter(path::split(next).0)) {
                        None => TreeNode::Leaf(leaf),
                        Some(None) => TreeNode::Fields(TreeNodes::new()),
                        Some(Some(_)) => TreeNode::Elements(TreeNodes::new()),
                    })
                }
            };
            rest = next;
        }
        Ok(())
    }

    /// Merges two nodes that apply to the same element of an array.
    pub(super) fn merge(self, other: TreeNode<'u>) -> Result<TreeNode<'u>, Error> {
        match (self, other) {
            (TreeNode::Fields(a), TreeNode::Fields(b)) => merge(a, b).map(TreeNode::Fields),
            (TreeNode::Elements(a), TreeNode::Elements(b)) => merge(a, b).map(TreeNode::Elements),
            (a, b) => Err(conflict(b.any_path(), &a)),
        }
    }

    /// The path of some leaf.
    pub(super) fn any_path(&self) -> &'u str {
        match self {
            TreeNode::Leaf(leaf) => leaf.path,
            TreeNode::Fields(nodes) | TreeNode::Elements(nodes) => {
                let first = nodes.first_key_value();
                first.map_or("", |(_, node)| node.any_path())
            }
        }
    }

    pub(super) fn leaves(&self, each: &mut dyn FnMut(&TreeLeaf<'u>)) {
        match self {
            TreeNode::Leaf(leaf) => each(leaf),
            TreeNode::Fields(nodes) | TreeNode::Elements(nodes) => {
                nodes.values().for_each(|node| node.leaves(each));
            }
        }
    }
}

fn merge<'u>(mut into: TreeNodes<'u>, nodes: TreeNodes<'u>) -> Result<TreeNodes<'u>, Error> {
    for (part, node) in nodes {
        let merged = match into.remove(&part) {
            Some(own) => own.merge(node)?,
            None => node,
        };
        into.insert(part, merged);
    }
    Ok(into)
}

fn conflict(path: &str, node: &TreeNode<'_>) -> Error {
    Error::ConflictingPaths {
        path: path.to_owned(),
        other: node.any_path().to_owned(),
        code: code::CONFLICTING_UPDATE_OPERATORS,
    }
}

/// The order of new fields of several paths.
pub(super) fn compare_paths(a: &str, b: &str) -> Ordering {
    let mut parts = a.split('.').zip(b.split('.'));
    let first = parts.find_map(|(a, b)| Some(compare_parts(a, b)).filter(|order| order.is_ne()));
    first.unwrap_or_else(|| a.len().cmp(&b.len()))
}

/// The order of new fields: numbers by their value, then names by their bytes.
fn compare_parts(a: &str, b: &str) -> Ordering {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    match (is_number(a), is_number(b)) {
        (true, true) => {
            let digits = |part: &str| part.trim_start_matches('0').len();
            digits(a)
                .cmp(&digits(b))
                .then_with(|| a.trim_start_matches('0').cmp(b.trim_start_matches('0')))
                .then_with(|| a.cmp(b))
        }
        (a_is, b_is) => b_is.cmp(&a_is).then_with(|| a.cmp(b)),
    }
}

/// The name in `$[name]`, which is empty for all elements.
pub(super) fn array_filter(part: &str) -> Option<&str> {
    part.strip_prefix("$[")?.strip_suffix(']')
}

/// The names of the array filters in a path.
pub(super) fn array_filters(path: &str) -> impl Iterator<Item = &str> {
    path.split('.')
        .filter_map(array_filter)
        .filter(|name| !name.is_empty() && path::position(name).is_none())
}

/// Whether a path names an element by a position that must exist.
pub(super) fn has_element(path: &str) -> bool {
    let mut names = path.split('.').filter_map(array_filter);
    names.any(|name| path::position(name).is_some())
}

/// Rejects paths that an update cannot have.
pub(super) fn check_path(path: &str) -> Result<(), Error> {
    if path.contains('\0') {
        return Err(path::bad(path, "it contains a NUL", code::NUL_IN_PATH));
    }
    path::check(path)?;
    if path.split('.').any(str::is_empty) {
        let reason = "a part of it is empty";
        return Err(path::bad(path, reason, code::EMPTY_FIELD_NAME));
    }
    if path.split('.').filter(|part| *part == "$").count() > 1 {
        let reason = "it has several positional operators `$`";
        return Err(path::bad(path, reason, code::BAD_VALUE));
    }
    for (at, part) in path.split('.').enumerate() {
        let reason = match array_filter(part) {
            None if part.starts_with("$[") => "a part of it begins with `$[` and has no `]`",
            None if at > 0 || part != "$" => continue,
            Some(_) if at > 0 => continue,
            _ => "it begins with an element of an array",
        };
        return Err(path::bad(path, reason, code::BAD_VALUE));
    }
    Ok(())
}

/// Whether a path has the positional `$`.
pub(super) fn is_positional(path: &str) -> bool {
    path.split('.').any(|part| part == "$")
}
