//! Counts: how many children a parent has.

use bson::RawBson;
use odm_store::Result;
use serde::{Deserialize, Serialize};

use super::{
    EmptyValue,
    children::{Children, OfChildren},
};
use crate::model::derived::ChildrenShape;

/// The number of children of a parent, in the parent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct CountDefinition(pub(crate) Children);

impl CountDefinition {
    pub(super) fn from_shape(
        parent: &str,
        within: &str,
        name: &str,
        shape: &ChildrenShape,
    ) -> Result<Self> {
        Children::from_shape(parent, within, name, shape).map(CountDefinition)
    }
}

impl OfChildren for CountDefinition {
    const ARROW: &'static str = "counted in";

    fn children(&self) -> &Children {
        &self.0
    }

    fn children_mut(&mut self) -> &mut Children {
        &mut self.0
    }

    fn empty(&self) -> EmptyValue {
        EmptyValue::Value(RawBson::Int64(0))
    }
}
