//! `$dateDiff`.

use bson::RawBson;

use super::{calendar::LocalTime, millis, unit::Unit, zone, zone::Zone};
use crate::{
    Error,
    expr::{evaluate::is_null, failed, named::Arguments},
};

/// How often a unit of time begins between two dates.
pub(super) fn difference(arguments: Arguments<'_>) -> Result<Option<RawBson>, Error> {
    let null = Ok(Some(RawBson::Null));
    let start = arguments.value(0)?;
    if is_null(&start) {
        return null;
    }
    let end = arguments.value(1)?;
    if is_null(&end) {
        return null;
    }
    let Some(unit) = Unit::of(arguments, 2)? else {
        return null;
    };
    let Some(first_weekday) = unit.first_weekday(arguments, 4)? else {
        return null;
    };
    let Some(zone) = zone(arguments, 3)? else {
        return null;
    };
    let start = millis(arguments, &start, 5_166_307)?;
    let end = millis(arguments, &end, 5_166_307)?;
    let count = |at| begun(at, unit, first_weekday, &zone);
    // Short units pass alike on all clocks. The clock can have been changed by a part of one, which is cut.
    let changed = match unit.millis() {
        Some(millis) if unit.is_short() => {
            let change = zone.offset_at(start).saturating_sub(zone.offset_at(end));
            i128::from(change.checked_div(millis).unwrap_or_default())
        }
        _ => 0,
    };
    let difference = count(end).saturating_sub(count(start));
    let difference = i64::try_from(difference.saturating_add(changed));
    let range = |_| {
        failed(
            arguments.name(),
            "the difference is out of range",
            5_166_308,
        )
    };
    Ok(Some(RawBson::Int64(difference.map_err(range)?)))
}

/// The number of units that have begun on the local clock, from a fixed time on.
fn begun(at: i64, unit: Unit, first_weekday: i64, zone: &Zone) -> i128 {
    let local = LocalTime::of(at, zone);
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
        (_, Some(millis)) => zone.local(at).div_euclid(millis.into()),
    }
}
