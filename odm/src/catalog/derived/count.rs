//! Counts: how many children a parent has.

use std::borrow::Cow;

use bson::RawBson;
use odm_store::Result;
use serde::{Deserialize, Serialize};

use super::{EmptyValue, FieldDefinition, FieldRead, is_false};
use crate::{
    catalog::{join, stored_form::ChildFilter},
    model::derived::CountShape,
};

/// The number of children of a parent, in the parent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CountDefinition {
    /// The collection of the holder.
    pub(crate) parent: String,
    /// The path of the number in the holder.
    pub(crate) path: String,
    /// The collection of the children.
    pub(crate) child: String,
    /// The path of the children's reference to the holder.
    pub(crate) reference: String,
    /// The children that are counted.
    pub(crate) filter: ChildFilter,
    /// Whether the worker of the outbox refreshes it after a change of the children.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) deferred: bool,
}

impl CountDefinition {
    pub(super) fn from_shape(
        parent: &str,
        within: &str,
        name: &str,
        shape: &CountShape,
    ) -> Result<Self> {
        let path = join(within, name);
        let filter = ChildFilter::declared(shape.filter, parent, &path)?;
        Ok(CountDefinition {
            parent: parent.to_owned(),
            path,
            child: shape.collection.to_owned(),
            reference: shape.via.to_owned(),
            filter,
            deferred: shape.deferred,
        })
    }
}

impl FieldDefinition for CountDefinition {
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
        EmptyValue::Value(RawBson::Int64(0))
    }

    fn arrow(&self) -> (&'static str, String) {
        ("-.->", format!("counted in {}", self.path))
    }
}
