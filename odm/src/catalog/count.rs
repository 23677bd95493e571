//! Counts: how many children a parent has.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{
    derived::{FieldDefinition, FieldRead, declared_filter},
    stored_form,
};
use crate::{error::Result, model::CountShape, mql::Filter};

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
    #[serde(with = "stored_form::filter")]
    pub(crate) filter: Filter,
}

impl CountDefinition {
    pub(super) fn from_shape(parent: &str, path: String, shape: &CountShape) -> Result<Self> {
        Ok(CountDefinition {
            parent: parent.to_owned(),
            path,
            child: shape.collection.to_owned(),
            reference: shape.via.to_owned(),
            filter: declared_filter(shape.filter)?,
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

    fn arrow(&self) -> (&'static str, String) {
        ("-.->", format!("counted in {}", self.path))
    }
}
