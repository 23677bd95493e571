//! Existences: whether a parent has children.

use async_trait::async_trait;
use bson::{RawBson, RawBsonRef};
use odm_store::{Find, FindByKey, Result, mutants::mutant};

use super::{
    Derivation, DerivedKind, Inputs,
    tally::{self, Tally},
};
use crate::{
    catalog::{DerivedField, ExistsDefinition, OrderedField},
    maintain::{
        places::FieldValues,
        unit::{Doc, Unit},
    },
};

/// The kind `#[exists]`.
pub(super) struct Existences;

#[async_trait]
impl Derivation for Existences {
    async fn refresh(&self, unit: &mut Unit<'_>, level: &[OrderedField<'_>]) -> Result<()> {
        tally::refresh_level::<ExistsDefinition>(unit, level).await
    }

    async fn differences(
        &self,
        lookup: &mut dyn Inputs,
        fields: &[&DerivedField],
        documents: &[Doc],
    ) -> Result<Vec<FieldValues>> {
        tally::differences::<ExistsDefinition>(lookup, fields, documents).await
    }

    fn kind(&self) -> DerivedKind {
        DerivedKind::Exists
    }
}

/// The number is 0 or 1, for any more.
#[async_trait]
impl Tally for ExistsDefinition {
    fn reference(&self) -> &str {
        &self.reference
    }

    fn number(value: Option<RawBsonRef<'_>>) -> Option<i64> {
        value.and_then(|value| value.as_bool()).map(i64::from)
    }

    /// Of several children that leave a parent, the stored value does not say whether all have left.
    fn after(before: Option<i64>, by: i64) -> Option<i64> {
        match by {
            1.. => Some(1),
            0 => before,
            _ if mutant("last child") => Some(1),
            _ => None,
        }
    }

    fn value(_: Option<RawBsonRef<'_>>, number: i64) -> RawBson {
        RawBson::Boolean(number > 0)
    }

    async fn search(inputs: &mut dyn Inputs, children: FindByKey) -> Result<Vec<i64>> {
        let first = FindByKey {
            find: Find {
                limit: Some(1),
                ..children.find
            },
            ..children
        };
        let found = inputs.find_by_key(&first).await?.into_iter();
        Ok(found.map(|found| found.len() as i64).collect())
    }
}
