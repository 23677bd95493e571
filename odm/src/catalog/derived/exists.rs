//! Existences: whether a parent has children.

use bson::RawBson;
use odm_store::Result;
use serde::{Deserialize, Serialize};

use super::{
    EmptyValue,
    children::{Children, OfChildren},
};
use crate::model::derived::ChildrenShape;

/// Whether a parent has children, in the parent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ExistsDefinition(pub(crate) Children);

impl ExistsDefinition {
    pub(super) fn from_shape(
        parent: &str,
        within: &str,
        name: &str,
        shape: &ChildrenShape,
    ) -> Result<Self> {
        Children::from_shape(parent, within, name, shape).map(ExistsDefinition)
    }
}

impl OfChildren for ExistsDefinition {
    const ARROW: &'static str = "known in";

    fn children(&self) -> &Children {
        &self.0
    }

    fn children_mut(&mut self) -> &mut Children {
        &mut self.0
    }

    fn empty(&self) -> EmptyValue {
        EmptyValue::Value(RawBson::Boolean(false))
    }
}
