//! Copies: fields that hold a field of another document.

use std::borrow::Cow;

use bson::RawArrayBuf;
use odm_store::Result;
use serde::{Deserialize, Serialize};

use super::{EmptyValue, FieldDefinition, FieldRead, SourceReference, is_false};
use crate::{
    catalog::join,
    model::derived::{CopyShape, Via},
};

/// A field that holds a copy of a field of another document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CopyDefinition {
    /// The collection of the holder.
    pub(crate) holder: String,
    /// The path of the struct that the copy is in, through lists; empty for the document itself.
    pub(crate) within: String,
    /// The name of the copy in it.
    pub(crate) name: String,
    /// The collection of the source.
    pub(crate) source: String,
    /// The path of the value in the source.
    pub(crate) value: String,
    /// The reference by which the source is found.
    pub(crate) along: Along,
    /// Whether the copy keeps the value of the time when its reference was added.
    pub(crate) frozen: bool,
    /// Whether the copy can be absent.
    pub(crate) optional: bool,
    /// Whether the worker of the outbox refreshes it after a change of its sources.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) deferred: bool,
}

/// The reference between a copy and its source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Along {
    /// A reference of this name in the same struct.
    Local(String),
    /// References at this path in the source: the copies of all sources that refer to the holder.
    Reverse(String),
}

impl CopyDefinition {
    pub(super) fn from_shape(
        holder: &str,
        within: &str,
        name: &str,
        shape: &CopyShape,
    ) -> Result<Self> {
        Ok(CopyDefinition {
            holder: holder.to_owned(),
            within: within.to_owned(),
            name: name.to_owned(),
            source: shape.source.to_owned(),
            value: shape.path.to_owned(),
            along: match shape.via {
                Via::Beside(name) => Along::Local(name.to_owned()),
                Via::Back(path) => Along::Reverse(path.to_owned()),
            },
            frozen: shape.frozen,
            optional: shape.optional,
            deferred: shape.deferred,
        })
    }

    /// The path of the reference in the holder, if the holder has it.
    pub(crate) fn reference(&self) -> Option<String> {
        match &self.along {
            Along::Local(name) => Some(join(&self.within, name)),
            Along::Reverse(_) => None,
        }
    }
}

impl FieldDefinition for CopyDefinition {
    fn holder(&self) -> &str {
        &self.holder
    }

    fn path(&self) -> Cow<'_, str> {
        join(&self.within, &self.name).into()
    }

    fn source(&self) -> &str {
        &self.source
    }

    fn reference(&self) -> Option<SourceReference<'_>> {
        Some(match &self.along {
            Along::Local(name) => SourceReference::in_holder(join(&self.within, name)),
            Along::Reverse(path) => SourceReference::in_source(path),
        })
    }

    fn reads(&self) -> Vec<FieldRead<'_>> {
        let value = FieldRead::new(&self.source, &*self.value);
        let reference = match &self.along {
            Along::Local(name) => FieldRead::new(&self.holder, join(&self.within, name)),
            Along::Reverse(path) => FieldRead::new(&self.source, &**path),
        };
        vec![value, reference]
    }

    fn is_deferred(&self) -> bool {
        self.deferred
    }

    fn set_deferred(&mut self, deferred: bool) {
        self.deferred = deferred;
    }

    fn empty(&self) -> EmptyValue {
        match (&self.along, self.optional) {
            (Along::Reverse(_), _) => EmptyValue::Value(RawArrayBuf::new().into()),
            (Along::Local(_), true) => EmptyValue::Absent,
            (Along::Local(_), false) => EmptyValue::None,
        }
    }

    fn arrow(&self) -> (&'static str, String) {
        ("-.->", format!("{} to {}", self.value, self.path()))
    }
}
