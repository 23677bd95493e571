//! Subsets: bounded arrays of children in their parent.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{
    derived::{FieldDefinition, FieldRead, declared_filter},
    stored_form,
};
use crate::{
    error::Result,
    model::SubsetShape,
    mql::{Filter, Sort},
};

/// One bounded array of children in their parent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SubsetDefinition {
    /// The collection of the holder.
    pub(crate) parent: String,
    /// The path of the array in the holder.
    pub(crate) path: String,
    /// The collection of the children.
    pub(crate) child: String,
    /// The path of the children's reference to the holder.
    pub(crate) reference: String,
    /// The total order of the children in the array.
    #[serde(with = "stored_form::sort")]
    pub(crate) sort: Sort,
    /// The number of children in the array; the last ones if it is negative.
    pub(crate) limit: i64,
    /// The fields that are shown; `None` for all.
    pub(crate) shown: Option<Vec<String>>,
    /// The children that can be in the array.
    #[serde(with = "stored_form::filter")]
    pub(crate) filter: Filter,
}

impl SubsetDefinition {
    pub(super) fn from_shape(parent: &str, path: String, shape: &SubsetShape) -> Result<Self> {
        let keys = shape.sort.iter();
        let sort = keys.fold(Sort::new(), |sort, &(path, direction)| {
            sort.by(path, direction)
        });
        Ok(SubsetDefinition {
            parent: parent.to_owned(),
            path,
            child: shape.collection.to_owned(),
            reference: shape.via.to_owned(),
            sort: sort.total(),
            limit: shape.limit,
            shown: shape.shown.map(|shown| {
                let names = shown().names().into_iter();
                names.map(str::to_owned).collect()
            }),
            filter: declared_filter(shape.filter)?,
        })
    }
}

impl FieldDefinition for SubsetDefinition {
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
        let keys = self.sort.keys().iter();
        reads.extend(keys.map(|(path, _)| FieldRead::new(&self.child, &**path)));
        match &self.shown {
            None => reads.push(FieldRead::new(&self.child, "")),
            Some(shown) => {
                let shown = shown.iter();
                reads.extend(shown.map(|path| FieldRead::new(&self.child, &**path)));
            }
        }
        reads.extend(FieldRead::by_filter(&self.child, &self.filter));
        reads
    }

    fn arrow(&self) -> (&'static str, String) {
        ("==>", format!("shown in {}", self.path))
    }
}
