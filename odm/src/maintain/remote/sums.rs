//! The unread updates of a sum in a parent.

use bson::{RawBson, spec::ElementType};
use odm_mql::{Filter, Operation, Test};
use odm_store::Result;

use super::{FieldUpdate, Remote};
use crate::{
    catalog::{DerivedField, FromDerived, SumDefinition},
    maintain::{
        derived::{Tallies, changes},
        unit::Unit,
    },
    model::derived::SumType,
};

/// A server adds whole numbers exactly. It rounds decimals.
impl Remote for Tallies<SumDefinition> {
    fn can_update(&self, _: &Unit<'_>, field: &DerivedField) -> bool {
        SumDefinition::from_derived(field).is_some_and(|sum| sum.sum == SumType::Int64)
    }

    fn changes(
        &self,
        unit: &Unit<'_>,
        field: &DerivedField,
    ) -> Result<Vec<(Vec<u8>, Option<FieldUpdate>)>> {
        let Some(sum) = SumDefinition::from_derived(field) else {
            return Ok(Vec::new());
        };
        let changes = changes(unit, sum)?.map(|(key, change)| {
            let by = change.and_then(|change| change.to_int64());
            let change = by.map(|by| FieldUpdate {
                operation: Operation::Inc(RawBson::Int64(by)),
                filter: can_add(&sum.children.path, by),
            });
            (key, change)
        });
        Ok(changes.collect())
    }
}

/// The filter of documents with a whole number of 64 bits at this path, to which this one can be added without an overflow.
fn can_add(path: &str, by: i64) -> Filter {
    let has = |test| Filter::Path(path.to_owned().into(), test);
    let fits = match i64::MAX.checked_sub(by) {
        Some(most) => Test::Lte(RawBson::Int64(most)),
        None => Test::Gte(RawBson::Int64(i64::MIN.saturating_sub(by))),
    };
    // A test of an array also tests its elements.
    let is_array = Test::Type(vec![ElementType::Array]);
    has(Test::Type(vec![ElementType::Int64]))
        .and(has(Test::Not(vec![is_array])))
        .and(has(fits))
}
