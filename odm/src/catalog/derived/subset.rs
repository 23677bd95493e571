//! Subsets: bounded arrays of children in their parent.

use std::borrow::Cow;

use bson::RawArrayBuf;
use odm_mql::Sort;
use odm_store::Result;
use serde::{Deserialize, Serialize};

use super::{EmptyValue, FieldDefinition, FieldRead, SourceReference, is_false};
use crate::{
    catalog::{
        join,
        stored_form::{self, ChildFilter},
    },
    model::derived::SubsetShape,
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
    pub(crate) filter: ChildFilter,
    /// Whether the worker of the outbox refreshes it after a change of the children.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) deferred: bool,
}

impl SubsetDefinition {
    pub(super) fn from_shape(
        parent: &str,
        within: &str,
        name: &str,
        shape: &SubsetShape,
    ) -> Result<Self> {
        let keys = shape.sort.iter();
        let sort = keys.fold(Sort::new(), |sort, &(path, direction)| {
            sort.by(path, direction)
        });
        let path = join(within, name);
        let filter = ChildFilter::declared(shape.filter, parent, &path)?;
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
            filter,
            deferred: shape.deferred,
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

    fn reference(&self) -> Option<SourceReference<'_>> {
        Some(SourceReference::in_source(&self.reference))
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

    fn filter(&self) -> Option<&ChildFilter> {
        Some(&self.filter)
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
        ("==>", format!("shown in {}", self.path))
    }
}
