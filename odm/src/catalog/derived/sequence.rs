//! Numbers within a parent.

use std::borrow::Cow;

use bson::RawBson;
use odm_store::{Result, show};
use serde::{Deserialize, Serialize};

use super::{EmptyValue, FieldDefinition, FieldRead, FromDerived, SourceReference};
use crate::{
    catalog::{Catalog, join, schema},
    model::derived::SequenceShape,
};

/// A field that holds the number of its document among the documents of one parent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SequenceDefinition {
    /// The collection of the holder.
    pub(crate) holder: String,
    /// The path of the field in the holder.
    pub(crate) path: String,
    /// The path of the reference to the parent.
    pub(crate) within: String,
    /// Whether the numbers are stored as int32, and not as int64.
    pub(crate) is_int32: bool,
    /// The greatest number of the field's type.
    pub(crate) greatest: i64,
    /// Whether a document can lack the number.
    pub(crate) optional: bool,
}

impl SequenceDefinition {
    pub(super) fn from_shape(
        holder: &str,
        within: &str,
        name: &str,
        shape: &SequenceShape,
    ) -> Result<Self> {
        let path = join(within, name);
        let is_int32 = match (shape.number)(1)? {
            Some(RawBson::Int32(1)) => true,
            Some(RawBson::Int64(1)) => false,
            other => {
                let stored = other.map_or_else(|| "none".to_owned(), |other| show(&other));
                return Err(schema(format!(
                    "type of `{holder}.{path}`: the first number of its sequence is stored as {stored}, and not as the integer 1"
                )));
            }
        };
        // A type has all numbers up to its greatest.
        let mut greatest = 0;
        for bit in (0..i64::BITS - 1).rev() {
            let greater = greatest | 1 << bit;
            if (shape.number)(greater)?.is_some() {
                greatest = greater;
            }
        }
        Ok(SequenceDefinition {
            holder: holder.to_owned(),
            path,
            within: shape.within.to_owned(),
            is_int32,
            greatest,
            optional: shape.optional,
        })
    }

    /// A number as it is stored; `None` if it is not one of the field's type.
    pub(crate) fn value(&self, number: i64) -> Option<RawBson> {
        if !(1..=self.greatest).contains(&number) {
            None
        } else if self.is_int32 {
            number.try_into().ok().map(RawBson::Int32)
        } else {
            Some(RawBson::Int64(number))
        }
    }
}

impl Catalog {
    /// The fields of documents of a collection that are numbers within a parent, as `collection.path`.
    pub(crate) fn sequences_in(&self, collection: &str) -> impl Iterator<Item = String> {
        let sequences = self.derived_in(collection);
        let sequences = sequences.filter_map(SequenceDefinition::from_derived);
        sequences.map(|sequence| join(&sequence.holder, &sequence.path))
    }

    /// Whether this is such a field, as `collection.path`.
    pub(crate) fn is_sequence(&self, field: &str) -> bool {
        self.sequences_in(self.holder_of(field))
            .any(|name| name == field)
    }
}

impl FieldDefinition for SequenceDefinition {
    fn holder(&self) -> &str {
        &self.holder
    }

    fn path(&self) -> Cow<'_, str> {
        (&*self.path).into()
    }

    fn source(&self) -> &str {
        &self.holder
    }

    fn reference(&self) -> Option<SourceReference<'_>> {
        Some(SourceReference::in_holder(&*self.within))
    }

    fn reads(&self) -> Vec<FieldRead<'_>> {
        vec![FieldRead::new(&self.holder, &*self.within)]
    }

    /// The number is given with the document.
    fn is_deferred(&self) -> bool {
        false
    }

    fn set_deferred(&mut self, _: bool) {}

    fn empty(&self) -> EmptyValue {
        match self.optional {
            true => EmptyValue::Absent,
            false => EmptyValue::None,
        }
    }

    fn arrow(&self) -> (&'static str, String) {
        ("-.->", format!("{} within {}", self.path, self.within))
    }
}
