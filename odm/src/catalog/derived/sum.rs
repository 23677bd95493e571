//! Sums: the sum of a number in the children of a parent.

use odm_mql::ExactSum;
use odm_store::Result;
use serde::{Deserialize, Serialize};

use super::{
    EmptyValue,
    children::{Children, OfChildren},
};
use crate::model::derived::{SumShape, SumType};

/// The sum of a number in the children of a parent, in the parent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SumDefinition {
    pub(crate) children: Children,
    /// The path of the number in a child.
    pub(crate) amount: String,
    /// The stored type of the sum.
    pub(crate) sum: SumType,
}

impl SumDefinition {
    pub(super) fn from_shape(
        parent: &str,
        within: &str,
        name: &str,
        shape: &SumShape,
    ) -> Result<Self> {
        Ok(SumDefinition {
            children: Children::from_shape(parent, within, name, &shape.children)?,
            amount: shape.amount.to_owned(),
            sum: shape.sum,
        })
    }
}

impl OfChildren for SumDefinition {
    const ARROW: &'static str = "summed in";

    fn children(&self) -> &Children {
        &self.children
    }

    fn children_mut(&mut self) -> &mut Children {
        &mut self.children
    }

    fn read(&self) -> Option<&str> {
        Some(&self.amount)
    }

    fn empty(&self) -> EmptyValue {
        let value = self.sum.value(&ExactSum::default());
        value.map_or(EmptyValue::None, EmptyValue::Value)
    }
}
