//! The unread updates of a count in a parent.

use bson::RawBson;
use odm_mql::Operation;
use odm_store::Result;

use super::{FieldUpdate, Remote};
use crate::{
    catalog::{CountDefinition, DerivedField, FromDerived},
    maintain::{
        derived::{Tallies, changes, is_number},
        unit::Unit,
    },
};

impl Remote for Tallies<CountDefinition> {
    fn can_update(&self, _: &Unit<'_>, field: &DerivedField) -> bool {
        CountDefinition::from_derived(field).is_some()
    }

    fn changes(
        &self,
        unit: &Unit<'_>,
        field: &DerivedField,
    ) -> Result<Vec<(Vec<u8>, Option<FieldUpdate>)>> {
        let Some(count) = CountDefinition::from_derived(field) else {
            return Ok(Vec::new());
        };
        let changes = changes(unit, count)?.map(|(key, by)| {
            let by = by.and_then(|by| i32::try_from(by).ok());
            let change = by.map(|by| FieldUpdate {
                // The stored type stays.
                operation: Operation::Inc(RawBson::Int32(by)),
                filter: is_number(&count.0.path),
            });
            (key, change)
        });
        Ok(changes.collect())
    }
}
