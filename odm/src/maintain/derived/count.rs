//! Counts: how many children a parent has.

use async_trait::async_trait;
use bson::{RawBson, RawBsonRef, RawDocument, spec::ElementType};
use odm_mql::{Filter, Test};
use odm_store::Result;

use super::{DerivedKind, Inputs, tally::Tally};
use crate::catalog::CountDefinition;

#[async_trait]
impl Tally for CountDefinition {
    const KIND: DerivedKind = DerivedKind::Count;

    type Share = ();
    type Change = i64;

    fn share(&self, _: &RawDocument) -> Result<()> {
        Ok(())
    }

    fn add(&self, change: &mut i64, (): &()) {
        *change = change.saturating_add(1);
    }

    fn subtract(&self, change: &mut i64, (): &()) {
        *change = change.saturating_sub(1);
    }

    fn is_none(change: &i64) -> bool {
        *change == 0
    }

    /// If the sum is out of range, the stored number is wrong.
    fn after(&self, _: &RawBson, before: RawBsonRef<'_>, change: &i64) -> Result<Option<RawBson>> {
        let after = number(before).and_then(|before| before.checked_add(*change));
        Ok(after.map(RawBson::Int64))
    }

    /// The stored integer type stays.
    fn correction(stored: Option<RawBsonRef<'_>>, right: RawBson) -> Option<RawBson> {
        let right = number(right.as_raw_bson_ref())?;
        if stored.and_then(number) == Some(right) {
            return None;
        }
        Some(match (stored, i32::try_from(right)) {
            (Some(RawBsonRef::Int32(_)), Ok(right)) => RawBson::Int32(right),
            _ => RawBson::Int64(right),
        })
    }

    async fn search(&self, inputs: &mut dyn Inputs, parents: Vec<RawBson>) -> Result<Vec<RawBson>> {
        let numbers = inputs.count_by_key(&self.by_parent(parents)).await?;
        let numbers = numbers.into_iter();
        let numbers = numbers.map(|number| i64::try_from(number).unwrap_or(i64::MAX));
        Ok(numbers.map(RawBson::Int64).collect())
    }
}

fn number(value: RawBsonRef<'_>) -> Option<i64> {
    match value {
        RawBsonRef::Int32(number) => Some(number.into()),
        RawBsonRef::Int64(number) => Some(number),
        _ => None,
    }
}

/// The filter of documents that have a count at this path.
pub(in crate::maintain) fn is_number(path: &str) -> Filter {
    let has = |test| Filter::Path(path.to_owned().into(), test);
    let integer = Test::Type(vec![ElementType::Int32, ElementType::Int64]);
    // A test of an array also tests its elements.
    let is_array = Test::Type(vec![ElementType::Array]);
    has(integer).and(has(Test::Not(vec![is_array])))
}
