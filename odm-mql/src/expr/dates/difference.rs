//! `$dateDiff`.

use bson::RawBson;

use super::{
    calendar::Moment,
    millis,
    unit::{Unit, start_of_week},
    zone,
    zone::Zone,
};
use crate::{
    Error,
    error::code,
    expr::{evaluate::is_null, failed, named::Arguments},
};

/// How often a unit of time begins between two dates.
pub(super) fn difference(arguments: Arguments<'_>) -> Result<Option<RawBson>, Error> {
    let (start, end) = (arguments.value(0)?, arguments.value(1)?);
    let unit = Unit::of(arguments, 2)?;
    let zone = zone(arguments, 3)?;
    let first_weekday = match unit {
        Some(Unit::Week) => start_of_week(arguments, 4)?,
        _ => Some(0),
    };
    let (Some(unit), Some(zone), Some(first_weekday)) = (unit, zone, first_weekday) else {
        return Ok(Some(RawBson::Null));
    };
    if is_null(&start) || is_null(&end) {
        return Ok(Some(RawBson::Null));
    }
    let start = millis(arguments, &start, 5_166_307)?;
    let end = millis(arguments, &end, 5_166_307)?;
    let count = |at| begun(at, unit, first_weekday, &zone);
    let difference = count(end).checked_sub(count(start));
    let difference = difference.and_then(|difference| i64::try_from(difference).ok());
    let range = || {
        failed(
            arguments.name(),
            "the difference is out of range",
            code::OVERFLOW,
        )
    };
    Ok(Some(RawBson::Int64(difference.ok_or_else(range)?)))
}

/// The number of units that have begun, from a fixed time on.
fn begun(at: i64, unit: Unit, first_weekday: i64, zone: &Zone) -> i128 {
    let local = Moment::of(at, zone);
    match (unit, unit.millis()) {
        (Unit::Year, _) => local.year.into(),
        (Unit::Quarter, _) => {
            let quarter = local.month.saturating_sub(1) / 3;
            local.year.saturating_mul(4).saturating_add(quarter).into()
        }
        (Unit::Month, _) | (_, None) => local
            .year
            .saturating_mul(12)
            .saturating_add(local.month)
            .into(),
        (Unit::Day, _) => local.days().into(),
        (Unit::Week, _) => {
            // The first day of 1970 was a Thursday.
            let shifted = local.days().saturating_add(4).saturating_sub(first_weekday);
            shifted.div_euclid(7).into()
        }
        // Hours and shorter units pass alike on all clocks, and begin with the full ones of the local clock.
        (_, Some(millis)) => {
            let offset = i128::from(zone.offset_at(at).rem_euclid(millis));
            i128::from(at)
                .saturating_add(offset)
                .div_euclid(millis.into())
        }
    }
}
