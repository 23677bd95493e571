//! Counts: how many children a parent has.

use async_trait::async_trait;
use bson::{RawBson, RawBsonRef, spec::ElementType};
use odm_mql::{Filter, Test};
use odm_store::{FindByKey, Result};

use super::{
    Derivation, DerivedKind, Inputs,
    tally::{self, Tally},
};
use crate::{
    catalog::{CountDefinition, DerivedField, OrderedField},
    maintain::{
        places::FieldValues,
        unit::{Doc, Unit},
    },
};

/// The kind `#[count]`.
pub(in crate::maintain) struct Counts;

#[async_trait]
impl Derivation for Counts {
    async fn refresh(&self, unit: &mut Unit<'_>, level: &[OrderedField<'_>]) -> Result<()> {
        tally::refresh_level::<CountDefinition>(unit, level).await
    }

    async fn differences(
        &self,
        lookup: &mut dyn Inputs,
        fields: &[&DerivedField],
        documents: &[Doc],
    ) -> Result<Vec<FieldValues>> {
        tally::differences::<CountDefinition>(lookup, fields, documents).await
    }

    fn kind(&self) -> DerivedKind {
        DerivedKind::Count
    }
}

#[async_trait]
impl Tally for CountDefinition {
    fn reference(&self) -> &str {
        &self.reference
    }

    fn number(value: Option<RawBsonRef<'_>>) -> Option<i64> {
        match value {
            Some(RawBsonRef::Int32(number)) => Some(number.into()),
            Some(RawBsonRef::Int64(number)) => Some(number),
            _ => None,
        }
    }

    /// If the sum is out of range, the stored number is wrong.
    fn after(before: Option<i64>, by: i64) -> Option<i64> {
        before?.checked_add(by)
    }

    /// The stored integer type stays.
    fn value(stored: Option<RawBsonRef<'_>>, number: i64) -> RawBson {
        match (stored, i32::try_from(number)) {
            (Some(RawBsonRef::Int32(_)), Ok(number)) => RawBson::Int32(number),
            _ => RawBson::Int64(number),
        }
    }

    async fn search(inputs: &mut dyn Inputs, children: FindByKey) -> Result<Vec<i64>> {
        let numbers = inputs.count_by_key(&children).await?.into_iter();
        let numbers = numbers.map(|number| i64::try_from(number).unwrap_or(i64::MAX));
        Ok(numbers.collect())
    }
}

/// The difference that the unit makes to the count of each parent, by the key of its `_id`; `None` where it is not known.
pub(in crate::maintain) fn count_changes(
    unit: &Unit<'_>,
    count: &CountDefinition,
) -> Result<Vec<(Vec<u8>, Option<i64>)>> {
    tally::changes(unit, count)
}

/// The filter of documents that have a count at this path.
pub(in crate::maintain) fn is_number(path: &str) -> Filter {
    let has = |test| Filter::Path(path.to_owned().into(), test);
    let integer = Test::Type(vec![ElementType::Int32, ElementType::Int64]);
    // A test of an array also tests its elements.
    let is_array = Test::Type(vec![ElementType::Array]);
    has(integer).and(has(Test::Not(vec![is_array])))
}
