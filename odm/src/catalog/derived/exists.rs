//! Existences: whether a parent has children.

use std::borrow::Cow;

use bson::RawBson;
use odm_store::Result;
use serde::{Deserialize, Serialize};

use super::{EmptyValue, FieldDefinition, FieldRead, is_false};
use crate::{
    catalog::{join, stored_form::ChildFilter},
    model::derived::ExistsShape,
};

/// Whether a parent has children, in the parent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ExistsDefinition {
    /// The collection of the holder.
    pub(crate) parent: String,
    /// The path of the value in the holder.
    pub(crate) path: String,
    /// The collection of the children.
    pub(crate) child: String,
    /// The path of the children's reference to the holder.
    pub(crate) reference: String,
    /// The children of which there is one.
    pub(crate) filter: ChildFilter,
    /// Whether the worker of the outbox refreshes it after a change of the children.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) deferred: bool,
}

impl ExistsDefinition {
    pub(super) fn from_shape(
        parent: &str,
        within: &str,
        name: &str,
        shape: &ExistsShape,
    ) -> Result<Self> {
        let path = join(within, name);
        let filter = ChildFilter::declared(shape.filter, parent, &path)?;
        Ok(ExistsDefinition {
            parent: parent.to_owned(),
            path,
            child: shape.collection.to_owned(),
            reference: shape.via.to_owned(),
            filter,
            deferred: shape.deferred,
        })
    }
}

impl FieldDefinition for ExistsDefinition {
    fn holder(&self) -> &str {
        &self.parent
    }

    fn path(&self) -> Cow<'_, str> {
        (&*self.path).into()
    }

    fn source(&self) -> &str {
        &self.child
    }

    fn reads(&self) -> Vec<FieldRead<'_>> {
        let mut reads = vec![FieldRead::new(&self.child, &*self.reference)];
        reads.extend(FieldRead::by_filter(&self.child, &self.filter));
        reads
    }

    fn filter(&self) -> Option<&ChildFilter> {
        Some(&self.filter)
    }

    fn is_deferred(&self) -> bool {
        self.deferred
    }

    fn empty(&self) -> EmptyValue {
        EmptyValue::Value(RawBson::Boolean(false))
    }

    fn arrow(&self) -> (&'static str, String) {
        ("-.->", format!("known in {}", self.path))
    }
}
