//! The unread updates of the least and the greatest value in a parent.

use bson::{RawBson, spec::ElementType};
use odm_mql::{Filter, Operation, Test};
use odm_store::{Error, Result};

use super::{FieldUpdate, Remote};
use crate::{
    catalog::{DerivedField, ExtremeDefinition, FromDerived},
    maintain::{
        derived::{ExtremeChange, Extremes, changes, is_beyond},
        unit::Unit,
    },
};

impl<const IS_MAX: bool> Remote for Extremes<IS_MAX>
where
    ExtremeDefinition<IS_MAX>: FromDerived,
{
    fn can_update(&self, _: &Unit<'_>, field: &DerivedField) -> bool {
        let extreme = ExtremeDefinition::<IS_MAX>::from_derived(field);
        extreme.is_some_and(|extreme| extreme.least.is_some())
    }

    fn changes(
        &self,
        unit: &Unit<'_>,
        field: &DerivedField,
    ) -> Result<Vec<(Vec<u8>, Option<FieldUpdate>)>> {
        let Some(extreme) = ExtremeDefinition::<IS_MAX>::from_derived(field) else {
            return Ok(Vec::new());
        };
        let changes = changes(unit, extreme)?;
        let changes = changes.map(|(key, change)| {
            let update = change.map(|change| update(extreme, change)).transpose()?;
            Ok((key, update.flatten()))
        });
        changes.collect()
    }
}

/// The update of a parent with another value than that of a child that goes.
fn update<const IS_MAX: bool>(
    extreme: &ExtremeDefinition<IS_MAX>,
    change: ExtremeChange,
) -> Result<Option<FieldUpdate>> {
    let Some(least) = &extreme.least else {
        return Ok(None);
    };
    let least = RawBson::try_from(least.clone()).map_err(Error::malformed)?;
    let ExtremeChange { come, gone } = change;
    let is_replaced = |come: &RawBson| {
        gone.as_ref()
            .is_none_or(|gone| !is_beyond::<IS_MAX>(gone, come))
    };
    let stays = match &gone {
        Some(gone) if !come.as_ref().is_some_and(is_replaced) => Some(match IS_MAX {
            true => Test::Gt(gone.clone()),
            false => Test::Lt(gone.clone()),
        }),
        _ => None,
    };
    let Some(value) = come.or(gone) else {
        return Ok(None);
    };
    let has = |test| Filter::Path(extreme.children.path.clone().into(), test);
    // A test of an array also tests its elements.
    let is_array = Test::Type(vec![ElementType::Array]);
    let has_value = has(Test::Gte(least)).and(has(Test::Not(vec![is_array])));
    Ok(Some(FieldUpdate {
        operation: match IS_MAX {
            true => Operation::Max(value),
            false => Operation::Min(value),
        },
        filter: has_value.and(stays.map(has).unwrap_or_default()),
    }))
}
