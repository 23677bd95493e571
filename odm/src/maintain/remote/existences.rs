//! The unread updates of an existence in a parent.

use bson::{RawBson, spec::ElementType};
use odm_mql::{Filter, Operation, Test};
use odm_store::Result;

use super::{FieldUpdate, Remote};
use crate::{
    catalog::{DerivedField, ExistsDefinition, FromDerived},
    maintain::{
        derived::{Tallies, changes},
        unit::Unit,
    },
};

/// After a new child there is one, in any case.
impl Remote for Tallies<ExistsDefinition> {
    fn can_update(&self, _: &Unit<'_>, field: &DerivedField) -> bool {
        ExistsDefinition::from_derived(field).is_some()
    }

    fn changes(
        &self,
        unit: &Unit<'_>,
        field: &DerivedField,
    ) -> Result<Vec<(Vec<u8>, Option<FieldUpdate>)>> {
        let Some(exists) = ExistsDefinition::from_derived(field) else {
            return Ok(Vec::new());
        };
        let is_bool = Test::Type(vec![ElementType::Boolean]);
        let changes = changes(unit, exists)?.map(|(key, by)| {
            let update = by.filter(|by| *by > 0).map(|_| FieldUpdate {
                operation: Operation::Set(RawBson::Boolean(true)),
                filter: Filter::Path(exists.0.path.clone().into(), is_bool.clone()),
            });
            (key, update)
        });
        Ok(changes.collect())
    }
}
