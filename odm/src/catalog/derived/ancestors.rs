//! The documents above a document in a tree.

use std::borrow::Cow;

use bson::RawArrayBuf;
use odm_store::Result;
use serde::{Deserialize, Serialize};

use super::{DerivedField, EmptyValue, FieldDefinition, FieldRead, SourceReference, is_false};
use crate::{
    catalog::{Catalog, join},
    model::derived::AncestorsShape,
};

/// A field that holds the `_id`s of the documents above its document, from the root down.
///
/// It is the list of the document that the reference names, and the `_id` of that document. So it follows from references alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AncestorsDefinition {
    /// The collection of the holder.
    pub(crate) holder: String,
    /// The path of the field in the holder.
    pub(crate) path: String,
    /// The path of the reference to the document above.
    pub(crate) reference: String,
    /// The collection of the tree.
    pub(crate) tree: String,
    /// The path of the list in the documents of the tree.
    pub(crate) list: String,
    /// Whether the worker of the outbox refreshes it after a change of the documents above.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) deferred: bool,
}

impl AncestorsDefinition {
    pub(super) fn from_shape(
        holder: &str,
        within: &str,
        name: &str,
        shape: &AncestorsShape,
    ) -> Result<Self> {
        Ok(AncestorsDefinition {
            holder: holder.to_owned(),
            path: join(within, name),
            reference: shape.via.to_owned(),
            tree: shape.tree.to_owned(),
            list: shape.list.to_owned(),
            deferred: shape.deferred,
        })
    }

    /// Whether the holder is a document of the tree itself: the list follows from that of another holder.
    pub(crate) fn is_of_tree(&self) -> bool {
        (&self.holder, &self.path) == (&self.tree, &self.list)
    }
}

impl Catalog {
    /// The collection of the documents that a field names: a reference, or a list of ancestors or copy of one.
    pub(crate) fn named_by(&self, collection: &str, path: &str) -> Option<&str> {
        let edge = self.edge(collection, path).map(|edge| &*edge.to);
        edge.or_else(|| match self.derived_at(collection, path)? {
            DerivedField::Ancestors(ancestors) => Some(&*ancestors.tree),
            DerivedField::Copy(copy) => self.named_by(&copy.source, &copy.value),
            _ => None,
        })
    }

    /// Whether every document that the field names exists.
    pub(crate) fn is_certain(&self, collection: &str, path: &str) -> bool {
        if let Some(edge) = self.edge(collection, path) {
            return edge.is_certain() && !self.is_pending(collection, path);
        }
        let Some(field) = self.derived_at(collection, path) else {
            return false;
        };
        let is_right = !field.is_deferred() && !self.is_pending(collection, path);
        is_right
            && match field {
                DerivedField::Ancestors(ancestors) => {
                    self.is_certain(collection, &ancestors.reference)
                        && (ancestors.is_of_tree()
                            || self.is_certain(&ancestors.tree, &ancestors.list))
                }
                DerivedField::Copy(copy) => {
                    let reference = copy.reference().filter(|_| !copy.frozen);
                    reference.is_some_and(|reference| self.is_certain(collection, &reference))
                        && self.is_certain(&copy.source, &copy.value)
                }
                _ => false,
            }
    }

    fn derived_at(&self, collection: &str, path: &str) -> Option<&DerivedField> {
        self.derived_in(collection)
            .find(|field| field.path() == path)
    }
}

impl FieldDefinition for AncestorsDefinition {
    fn holder(&self) -> &str {
        &self.holder
    }

    fn path(&self) -> Cow<'_, str> {
        (&*self.path).into()
    }

    fn source(&self) -> &str {
        &self.tree
    }

    fn reference(&self) -> Option<SourceReference<'_>> {
        Some(SourceReference::in_holder(&*self.reference))
    }

    /// The lists of one tree are one node of the graph.
    fn reads(&self) -> Vec<FieldRead<'_>> {
        let mut reads = vec![FieldRead::new(&self.holder, &*self.reference)];
        if !self.is_of_tree() {
            reads.push(FieldRead::new(&self.tree, &*self.list));
        }
        reads
    }

    fn is_deferred(&self) -> bool {
        self.deferred
    }

    fn set_deferred(&mut self, deferred: bool) {
        self.deferred = deferred;
    }

    fn empty(&self) -> EmptyValue {
        EmptyValue::Value(RawArrayBuf::new().into())
    }

    fn arrow(&self) -> (&'static str, String) {
        ("-.->", format!("{} along {}", self.path, self.reference))
    }
}
