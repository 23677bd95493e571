//! The application of updates.
//!
//! The document is rewritten in one pass: unnamed fields are copied, named fields are changed in place, and new fields follow at the end of
//! their document.

use std::collections::{BTreeMap, HashMap};

use bson::{
    DateTime, RawArray, RawBsonRef, RawDocument, RawDocumentBuf, raw::CString, spec::ElementType,
};
use odm_pattern::Steps;

use super::{
    ArrayFilter, Operation, Update,
    operate::{Moment, ValueChange, change, create, needs_no_path},
    tree::{Action, Part, TreeLeaf, TreeNode, TreeNodes, is_positional},
};
use crate::{
    Error,
    error::code,
    path::{get, position, split},
    steps, types,
    write::{Element, Name, Writer, elements, fields},
};

/// The greatest number of nulls that are added to an array before a new element beyond its end.
const MAX_PADDING: usize = 1_500_000;

/// The greatest number of bytes that one update adds to arrays in this way: no document has more.
const MAX_PADDING_BYTES: usize = 16 << 20;

pub(super) fn apply(
    update: &Update,
    document: &RawDocument,
    inserting: bool,
    now: DateTime,
) -> Result<Option<RawDocumentBuf>, Error> {
    let mut root = TreeNode::root();
    let mut renamed = Renamed::default();
    for (path, operation) in &update.operations {
        if is_positional(path) {
            return Err(no_position(path));
        }
        match operation {
            Operation::Rename(target) => {
                let (from, to) = rename(&mut renamed, document, path, target)?;
                root.insert(TreeLeaf { path, action: from })?;
                root.insert(TreeLeaf {
                    path: target,
                    action: to,
                })?;
            }
            operation => root.insert(TreeLeaf {
                path,
                action: Action::Operation(operation),
            })?,
        }
    }
    let TreeNode::Fields(nodes) = root else {
        return Ok(None);
    };
    let steps = Steps::default();
    let mut applier = Applier {
        filters: (update.array_filters.iter())
            .map(|filter| (&*filter.name, filter))
            .collect(),
        moment: Moment {
            inserting,
            now,
            steps: &steps,
            collation: update.collation.as_ref(),
        },
        padded: 0,
        out: Writer::with_capacity(document.as_bytes().len() + 64),
    };
    let open = applier.out.begin();
    applier.document(document, &nodes)?;
    let after = applier.out.finish(open)?;
    if after.as_bytes() == document.as_bytes() {
        return Ok(None);
    }
    check_id(document, &after)?;
    Ok(Some(after))
}

/// The fields of the documents in which several renames look.
#[derive(Default)]
struct Renamed<'d> {
    documents: HashMap<*const u8, HashMap<&'d str, RawBsonRef<'d>>>,
    looks: usize,
}

impl<'d> Renamed<'d> {
    fn get(&mut self, document: &'d RawDocument, name: &str) -> Option<RawBsonRef<'d>> {
        /// The number of lookups that scan the fields, before the fields are indexed by name.
        const FEW: usize = 8;
        self.looks += 1;
        if self.looks <= FEW {
            return get(document, name);
        }
        let fields = self.documents.entry(document.as_bytes().as_ptr());
        let fields = fields.or_insert_with(|| {
            let mut fields = HashMap::new();
            for element in document.iter_elements().flatten() {
                steps::step();
                if let Ok(value) = element.value() {
                    fields.entry(element.key().as_str()).or_insert(value);
                }
            }
            fields
        });
        steps::step();
        fields.get(name).copied()
    }
}

/// The leaves of a rename at both of its paths.
fn rename<'u>(
    renamed: &mut Renamed<'u>,
    document: &'u RawDocument,
    from: &str,
    to: &str,
) -> Result<(Action<'u>, Action<'u>), Error> {
    let (mut inner, mut rest) = (document, from);
    let value = loop {
        let (name, next) = split(rest);
        match (renamed.get(inner, name), next) {
            (None, _) => return Ok((Action::Nothing, Action::Nothing)),
            (Some(value), None) => break value,
            (Some(RawBsonRef::Document(document)), Some(next)) => (inner, rest) = (document, next),
            (Some(RawBsonRef::Array(_)), Some(next)) => return Err(in_array(from, next)),
            (Some(other), Some(next)) => return Err(not_viable(from, split(next).0, other)),
        }
    };
    let is_id = |path: &str| split(path).0 == "_id";
    if (is_id(from) || is_id(to)) && get(document, "_id").is_some() {
        return Err(Error::Immutable("_id".to_owned()));
    }
    let (mut inner, mut rest) = (document, to);
    while let (name, Some(next)) = split(rest) {
        match renamed.get(inner, name) {
            Some(RawBsonRef::Document(document)) => (inner, rest) = (document, next),
            Some(RawBsonRef::Array(_)) => return Err(in_array(to, next)),
            // A missing document is created; a value without fields is refused when the field is written.
            _ => break,
        }
    }
    Ok((Action::Release, Action::Receive(value)))
}

/// The error of a positional `$` without an element.
pub(super) fn no_position(path: &str) -> Error {
    Error::NoPosition {
        path: path.to_owned(),
        code: code::BAD_VALUE,
    }
}

fn in_array(path: &str, rest: &str) -> Error {
    let array = path[..path.len() - rest.len() - 1].to_owned();
    Error::RenameInArray {
        path: path.to_owned(),
        array,
    }
}

fn not_viable(path: &str, field: &str, found: RawBsonRef<'_>) -> Error {
    Error::CannotCreateField {
        path: path.to_owned(),
        field: field.to_owned(),
        found: types::name(found.element_type()),
    }
}

/// Checks that an existing `_id` keeps its bytes.
fn check_id(before: &RawDocument, after: &RawDocument) -> Result<(), Error> {
    for element in fields(before) {
        let element = element?;
        if element.name() == "_id" {
            let same = fields(after)
                .flatten()
                .find(|other| other.name() == "_id")
                .is_some_and(|other| other.bytes() == element.bytes());
            return if same {
                Ok(())
            } else {
                Err(Error::Immutable("_id".to_owned()))
            };
        }
    }
    Ok(())
}

struct Applier<'u> {
    /// The array filters by their names.
    filters: HashMap<&'u str, &'u ArrayFilter>,
    moment: Moment<'u>,
    /// How many bytes arrays were padded with.
    padded: usize,
    out: Writer,
}

impl<'u> Applier<'u> {
    /// Writes the fields of a document.
    fn document(&mut self, document: &RawDocument, nodes: &TreeNodes<'u>) -> Result<(), Error> {
        // A name that occurs twice refers to the first field.
        let mut left: Vec<_> = nodes
            .iter()
            .map(|(&part, node)| (part, Some(node)))
            .collect();
        for element in fields(document) {
            steps::step();
            let element = element?;
            let at = left.binary_search_by_key(&Part(element.name()), |(part, _)| *part);
            match at.ok().and_then(|at| left[at].1.take()) {
                Some(node) => {
                    self.element(Name::Field(element.name()), &element, node, false)?;
                }
                None => self.out.copy(&element),
            }
        }
        for (Part(name), node) in left {
            if let Some(node) = node {
                self.create(Name::Field(name), node)?;
            }
        }
        Ok(())
    }

    /// Writes the elements of an array, to which operations at positions apply.
    fn array(&mut self, array: &RawArray, nodes: &TreeNodes<'u>) -> Result<(), Error> {
        let mut by_position = Vec::with_capacity(nodes.len());
        for (Part(name), node) in nodes {
            match position(name) {
                Some(at) => by_position.push((at, node)),
                None => self.refuse(name, node, RawBsonRef::Array(array))?,
            }
        }
        // The nodes are in the order of their positions.
        let mut nodes = by_position.into_iter().peekable();
        let mut len = 0;
        for element in elements(array) {
            steps::step();
            let element = element?;
            match nodes.next_if(|(at, _)| *at == len) {
                Some((_, node)) => self.element(Name::Position(len), &element, node, true)?,
                None => self.out.copy(&element),
            }
            len += 1;
        }
        for (at, node) in nodes {
            if !self.creates(node)? {
                continue;
            }
            if at - len > MAX_PADDING {
                let path = node.any_path().to_owned();
                return Err(Error::TooMuchPadding {
                    path,
                    limit: MAX_PADDING,
                });
            }
            self.padded += self.out.nulls(len..at);
            if self.padded > MAX_PADDING_BYTES {
                return Err(Error::TooLarge {
                    limit: MAX_PADDING_BYTES,
                });
            }
            self.create(Name::Position(at), node)?;
            len = at + 1;
        }
        Ok(())
    }

    /// Writes the elements of an array, to which operations by array filters apply.
    fn filtered(&mut self, array: &RawArray, nodes: &TreeNodes<'u>) -> Result<(), Error> {
        let (mut at_positions, mut by_filters) = (BTreeMap::new(), Vec::new());
        for (Part(name), node) in nodes {
            match position(name) {
                Some(position) => drop(at_positions.insert(position, node)),
                None => by_filters.push((*name, node)),
            }
        }
        for (at, element) in elements(array).enumerate() {
            let element = element?;
            let mut merged: Option<TreeNode<'u>> = at_positions.remove(&at).cloned();
            for (name, node) in &by_filters {
                steps::step();
                if self.is_meant(name, element.value()?)? {
                    let node = TreeNode::clone(node);
                    merged = Some(match merged {
                        None => node,
                        Some(others) => others.merge(node)?,
                    });
                }
            }
            match merged {
                Some(node) => self.element(Name::Position(at), &element, &node, true)?,
                None => self.out.copy(&element),
            }
        }
        match at_positions.first_key_value() {
            Some((&position, node)) => Err(Error::NoElement {
                path: node.any_path().to_owned(),
                position,
            }),
            None => Ok(()),
        }
    }

    /// Whether an element matches the array filter of a name.
    fn is_meant(&self, name: &str, element: RawBsonRef<'_>) -> Result<bool, Error> {
        if name.is_empty() {
            return Ok(true);
        }
        let filter = self.filters.get(name).ok_or_else(|| Error::ArrayFilter {
            name: name.to_owned(),
            reason: "it is missing",
            code: code::BAD_VALUE,
        })?;
        // The filter is on a document whose only field has the name of the filter.
        let field = CString::try_from(name).map_err(|error| Error::Encode(error.to_string()))?;
        let mut document = RawDocumentBuf::new();
        document.append(field, element);
        let Moment {
            steps, collation, ..
        } = self.moment;
        filter.filter.matches_within(&document, steps, collation)
    }

    /// Writes the changed element.
    fn element(
        &mut self,
        name: Name<'_>,
        element: &Element<'_>,
        node: &TreeNode<'u>,
        in_array: bool,
    ) -> Result<(), Error> {
        let value = element.value()?;
        match (node, value) {
            (TreeNode::Leaf(leaf), value) => match change(leaf, value, self.moment)? {
                ValueChange::Keep => self.out.copy(element),
                // The elements of an array keep their positions.
                ValueChange::Remove if in_array => self.out.element(name, RawBsonRef::Null),
                ValueChange::Remove => {}
                ValueChange::Put(new) => self.out.element(name, new),
                ValueChange::Make(new) => self.out.element(name, new.as_raw_bson_ref()),
            },
            (TreeNode::Fields(nodes), RawBsonRef::Document(document)) => {
                self.out.head(ElementType::EmbeddedDocument, name);
                let open = self.out.begin();
                self.document(document, nodes)?;
                self.out.end(open)?;
            }
            (TreeNode::Fields(nodes), RawBsonRef::Array(array)) => {
                self.out.head(ElementType::Array, name);
                let open = self.out.begin();
                self.array(array, nodes)?;
                self.out.end(open)?;
            }
            (TreeNode::Fields(nodes), other) => {
                for (Part(part), node) in nodes {
                    self.refuse(part, node, other)?;
                }
                self.out.copy(element);
            }
            (TreeNode::Elements(nodes), RawBsonRef::Array(array)) => {
                self.out.head(ElementType::Array, name);
                let open = self.out.begin();
                self.filtered(array, nodes)?;
                self.out.end(open)?;
            }
            (TreeNode::Elements(_), other) => {
                return Err(no_array(node, types::name(other.element_type())));
            }
        }
        Ok(())
    }

    /// Fails if one of the operations needs a field that cannot exist.
    fn refuse(&self, part: &str, node: &TreeNode<'_>, value: RawBsonRef<'_>) -> Result<(), Error> {
        let mut refused = Ok(());
        node.leaves(&mut |leaf| {
            if refused.is_ok() && !needs_no_path(leaf, self.moment) {
                refused = Err(not_viable(leaf.path, part, value));
            }
        });
        refused
    }

    /// Whether a missing field is created.
    fn creates(&self, node: &TreeNode<'u>) -> Result<bool, Error> {
        Ok(match node {
            TreeNode::Leaf(leaf) => !matches!(create(leaf, self.moment)?, ValueChange::Keep),
            TreeNode::Fields(nodes) => {
                let mut any = false;
                for node in nodes.values() {
                    any |= self.creates(node)?;
                }
                any
            }
            TreeNode::Elements(_) => return Err(no_array(node, "missing")),
        })
    }

    /// Writes a field that was missing.
    fn create(&mut self, name: Name<'_>, node: &TreeNode<'u>) -> Result<(), Error> {
        match node {
            TreeNode::Leaf(leaf) => match create(leaf, self.moment)? {
                ValueChange::Keep | ValueChange::Remove => {}
                ValueChange::Put(new) => self.out.element(name, new),
                ValueChange::Make(new) => self.out.element(name, new.as_raw_bson_ref()),
            },
            TreeNode::Fields(nodes) => {
                if self.creates(node)? {
                    self.out.head(ElementType::EmbeddedDocument, name);
                    let open = self.out.begin();
                    for (Part(name), node) in nodes {
                        self.create(Name::Field(name), node)?;
                    }
                    self.out.end(open)?;
                }
            }
            TreeNode::Elements(_) => return Err(no_array(node, "missing")),
        }
        Ok(())
    }
}

fn no_array(node: &TreeNode<'_>, found: &'static str) -> Error {
    Error::WrongType {
        operator: "$[]",
        path: node.any_path().to_owned(),
        expected: "an array",
        found,
        code: code::BAD_VALUE,
    }
}
