//! Extremes: the least and the greatest value of a field in the children of a parent.

use bson::Bson;
use odm_mql::{Direction, Sort};
use odm_store::Result;
use serde::{Deserialize, Serialize};

use super::{
    EmptyValue,
    children::{Children, OfChildren},
};
use crate::model::derived::ExtremeShape;

/// The least value of a field in the children of a parent, in the parent.
pub(crate) type MinDefinition = ExtremeDefinition<false>;

/// The greatest value.
pub(crate) type MaxDefinition = ExtremeDefinition<true>;

/// The least value, or the greatest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ExtremeDefinition<const IS_MAX: bool> {
    pub(crate) children: Children,
    /// The path of the value in a child.
    pub(crate) value: String,
    /// The least value of its type, where null or NaN may be before it. A search begins there.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "odm_mql::stored_value"
    )]
    pub(crate) least: Option<Bson>,
}

impl<const IS_MAX: bool> ExtremeDefinition<IS_MAX> {
    pub(super) fn from_shape(
        parent: &str,
        within: &str,
        name: &str,
        shape: &ExtremeShape,
    ) -> Result<Self> {
        Ok(ExtremeDefinition {
            children: Children::from_shape(parent, within, name, &shape.children)?,
            value: shape.value.to_owned(),
            least: None,
        })
    }

    /// The order in which the child with the value comes first.
    pub(crate) fn sort(&self) -> Sort {
        let direction = match IS_MAX {
            true => Direction::Descending,
            false => Direction::Ascending,
        };
        let sort = Sort::new().by(self.value.clone(), direction);
        match self.value.as_str() {
            "_id" => sort,
            // So that one index has the children in this order and in the reverse one.
            _ => sort.by("_id", direction),
        }
    }
}

impl<const IS_MAX: bool> OfChildren for ExtremeDefinition<IS_MAX> {
    const ARROW: &'static str = match IS_MAX {
        true => "greatest in",
        false => "least in",
    };

    fn children(&self) -> &Children {
        &self.children
    }

    fn children_mut(&mut self) -> &mut Children {
        &mut self.children
    }

    fn read(&self) -> Option<&str> {
        Some(&self.value)
    }

    fn empty(&self) -> EmptyValue {
        EmptyValue::Absent
    }
}
