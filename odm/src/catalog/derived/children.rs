//! The children that a field of their parent is computed from.

use std::borrow::Cow;

use odm_store::Result;
use serde::{Deserialize, Serialize};

use super::{EmptyValue, FieldDefinition, FieldRead, SourceReference, is_false};
use crate::{
    catalog::{join, stored_form::ChildFilter},
    model::derived::ChildrenShape,
};

/// A field, and the children of its holder that it is computed from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Children {
    /// The collection of the holder.
    pub(crate) parent: String,
    /// The path of the field in the holder.
    pub(crate) path: String,
    /// The collection of the children.
    pub(crate) child: String,
    /// The path of the children's reference to the holder.
    pub(crate) reference: String,
    /// The children that count.
    pub(crate) filter: ChildFilter,
    /// Whether the worker of the outbox refreshes the field after a change of the children.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) deferred: bool,
}

impl Children {
    pub(super) fn from_shape(
        parent: &str,
        within: &str,
        name: &str,
        shape: &ChildrenShape,
    ) -> Result<Self> {
        let path = join(within, name);
        let filter = ChildFilter::declared(shape.filter, parent, &path)?;
        Ok(Children {
            parent: parent.to_owned(),
            path,
            child: shape.collection.to_owned(),
            reference: shape.via.to_owned(),
            filter,
            deferred: shape.deferred,
        })
    }
}

/// A kind of field that is computed from children: which there are, and at most one field in them.
pub(crate) trait OfChildren {
    /// The label of its arrow in the diagram, before the path.
    const ARROW: &'static str;

    fn children(&self) -> &Children;

    fn children_mut(&mut self) -> &mut Children;

    /// The path in a child that it reads, beside the reference and the filter.
    fn read(&self) -> Option<&str> {
        None
    }

    /// The value without children.
    fn empty(&self) -> EmptyValue;
}

impl<T: OfChildren> FieldDefinition for T {
    fn holder(&self) -> &str {
        &self.children().parent
    }

    fn path(&self) -> Cow<'_, str> {
        (&*self.children().path).into()
    }

    fn source(&self) -> &str {
        &self.children().child
    }

    fn reference(&self) -> Option<SourceReference<'_>> {
        Some(SourceReference::in_source(&self.children().reference))
    }

    fn reads(&self) -> Vec<FieldRead<'_>> {
        let Children {
            child,
            reference,
            filter,
            ..
        } = self.children();
        let mut reads = vec![FieldRead::new(child, &**reference)];
        reads.extend(self.read().map(|path| FieldRead::new(child, path)));
        reads.extend(FieldRead::by_filter(child, filter));
        reads
    }

    fn filter(&self) -> Option<&ChildFilter> {
        Some(&self.children().filter)
    }

    fn is_deferred(&self) -> bool {
        self.children().deferred
    }

    fn set_deferred(&mut self, deferred: bool) {
        self.children_mut().deferred = deferred;
    }

    fn empty(&self) -> EmptyValue {
        OfChildren::empty(self)
    }

    fn arrow(&self) -> (&'static str, String) {
        ("-.->", format!("{} {}", T::ARROW, self.children().path))
    }
}
