//! The unread updates of the least and the greatest value in a parent.

use bson::{RawBson, spec::ElementType};
use odm_mql::{Filter, Operation, Test};
use odm_store::Result;

use super::{FieldUpdate, Remote};
use crate::{
    catalog::{DerivedField, ExtremeDefinition, FromDerived},
    maintain::{
        derived::{ExtremeChange, Tallies, changes, is_beyond},
        unit::Unit,
    },
};

impl<const IS_MAX: bool> Remote for Tallies<ExtremeDefinition<IS_MAX>>
where
    ExtremeDefinition<IS_MAX>: FromDerived,
{
    fn can_update(&self, _: &Unit<'_>, field: &DerivedField) -> bool {
        ExtremeDefinition::<IS_MAX>::from_derived(field).is_some()
    }

    fn changes(
        &self,
        unit: &Unit<'_>,
        field: &DerivedField,
    ) -> Result<Vec<(Vec<u8>, Option<FieldUpdate>)>> {
        let Some(extreme) = ExtremeDefinition::<IS_MAX>::from_derived(field) else {
            return Ok(Vec::new());
        };
        let changes = changes(unit, extreme)?.map(|(key, change)| {
            let update = change.and_then(|change| update::<IS_MAX>(&extreme.children.path, change));
            (key, update)
        });
        Ok(changes.collect())
    }
}

/// The update of a parent whose extreme is beyond the values of the children that go.
fn update<const IS_MAX: bool>(path: &str, change: ExtremeChange) -> Option<FieldUpdate> {
    let ExtremeChange { come, gone } = change;
    let has = |test| Filter::Path(path.to_owned().into(), test);
    let is_replaced = |gone: &RawBson| {
        come.as_ref()
            .is_some_and(|come| !is_beyond::<IS_MAX>(gone, come))
    };
    let stays = gone.clone().filter(|gone| !is_replaced(gone));
    // A test of an array also tests its elements.
    let mut filter = has(Test::Not(vec![Test::Type(vec![ElementType::Array])]));
    if let Some(gone) = stays {
        filter = filter.and(has(match IS_MAX {
            true => Test::Gt(gone),
            false => Test::Lt(gone),
        }));
    } else if !IS_MAX {
        // Null is less than any value.
        filter = filter.and(has(Test::Ne(RawBson::Null)));
    }
    let value = come.or(gone)?;
    let operation = match IS_MAX {
        true => Operation::Max(value),
        false => Operation::Min(value),
    };
    Some(FieldUpdate { operation, filter })
}
