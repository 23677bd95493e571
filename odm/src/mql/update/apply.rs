//! The application of updates.
//!
//! The document is rewritten in one pass: fields that the update does not name are copied, fields that
//! it names are changed in place, and new fields follow at the end of their document.

use bson::{
    DateTime, RawArray, RawBsonRef, RawDocument, RawDocumentBuf, raw::CString, spec::ElementType,
};

use super::{
    ArrayFilter, Operation, Update,
    operate::{Moment, ValueChange, change, create, needs_no_path},
    tree::{Action, TreeLeaf, TreeNode, is_positional},
};
use crate::mql::{
    Error,
    error::code,
    path::{get, position, split},
    types,
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
    for (path, operation) in &update.operations {
        if is_positional(path) {
            return Err(no_position(path));
        }
        match operation {
            Operation::Rename(target) => {
                let (from, to) = rename(document, path, target)?;
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
    let mut applier = Applier {
        filters: &update.array_filters,
        moment: Moment { inserting, now },
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

/// The leaves of a rename at both of its paths.
fn rename<'u>(
    document: &'u RawDocument,
    from: &str,
    to: &str,
) -> Result<(Action<'u>, Action<'u>), Error> {
    let (mut inner, mut rest) = (document, from);
    let value = loop {
        let (name, next) = split(rest);
        match (get(inner, name), next) {
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
        match get(inner, name) {
            Some(RawBsonRef::Document(document)) => (inner, rest) = (document, next),
            Some(RawBsonRef::Array(_)) => return Err(in_array(to, next)),
            // A missing document is created; a value without fields is refused when the field is written.
            _ => break,
        }
    }
    Ok((Action::Release, Action::Receive(value)))
}

/// The error of a positional `$` that stands for no element.
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
    filters: &'u [ArrayFilter],
    moment: Moment,
    /// How many bytes arrays were padded with.
    padded: usize,
    out: Writer,
}

type Nodes<'u> = [(&'u str, TreeNode<'u>)];

impl<'u> Applier<'u> {
    /// Writes the fields of a document.
    fn document(&mut self, document: &RawDocument, nodes: &Nodes<'u>) -> Result<(), Error> {
        // A name that occurs twice refers to the first field.
        let mut done = vec![false; nodes.len()];
        for element in fields(document) {
            let element = element?;
            match nodes.iter().position(|(name, _)| *name == element.name()) {
                Some(at) if !done[at] => {
                    done[at] = true;
                    self.element(Name::Field(element.name()), &element, &nodes[at].1, false)?;
                }
                _ => self.out.copy(&element),
            }
        }
        for ((name, node), done) in nodes.iter().zip(done) {
            if !done {
                self.create(Name::Field(name), node)?;
            }
        }
        Ok(())
    }

    /// Writes the elements of an array, to which operations at positions apply.
    fn array(&mut self, array: &RawArray, nodes: &Nodes<'u>) -> Result<(), Error> {
        let mut by_position = Vec::with_capacity(nodes.len());
        for (name, node) in nodes {
            match position(name) {
                Some(at) => by_position.push((at, node)),
                None => self.refuse(name, node, RawBsonRef::Array(array))?,
            }
        }
        // The nodes are in the order of their positions.
        let mut nodes = by_position.into_iter().peekable();
        let mut len = 0;
        for element in elements(array) {
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
    fn filtered(&mut self, array: &RawArray, nodes: &Nodes<'u>) -> Result<(), Error> {
        let mut len = 0;
        for (at, element) in elements(array).enumerate() {
            len = at + 1;
            let element = element?;
            let mut merged: Option<TreeNode<'u>> = None;
            for (name, node) in nodes {
                let is_meant = match position(name) {
                    Some(position) => position == at,
                    None => self.is_meant(name, element.value()?)?,
                };
                if is_meant {
                    merged = Some(match merged {
                        None => node.clone(),
                        Some(others) => others.merge(node.clone())?,
                    });
                }
            }
            match merged {
                Some(node) => self.element(Name::Position(at), &element, &node, true)?,
                None => self.out.copy(&element),
            }
        }
        let mut positions = nodes
            .iter()
            .filter_map(|(name, node)| Some((position(name)?, node)));
        match positions.find(|(position, _)| *position >= len) {
            Some((position, node)) => Err(Error::NoElement {
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
        let filter = self
            .filters
            .iter()
            .find(|filter| filter.name == name)
            .ok_or_else(|| Error::ArrayFilter {
                name: name.to_owned(),
                reason: "it is missing",
                code: code::BAD_VALUE,
            })?;
        // The filter is on a document whose only field has the name of the filter.
        let field = CString::try_from(name).map_err(|error| Error::Encode(error.to_string()))?;
        let mut document = RawDocumentBuf::new();
        document.append(field, element);
        filter.filter.matches(&document)
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
                for (part, node) in nodes {
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
                for (_, node) in nodes {
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
                    for (name, node) in nodes {
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
