//! `$dateTrunc`.

use bson::RawBson;

use super::{
    calendar::{DAY, LocalTime, days_of, weekday},
    date, millis,
    unit::Unit,
    zone,
    zone::Zone,
};
use crate::{
    Error,
    expr::{
        evaluate::{is_null, type_of},
        failed,
        named::Arguments,
    },
    number,
};

/// The year whose first day begins a bin.
const REFERENCE: i64 = 2000;

/// The begin of the bin that a date is in, of a number of units.
pub(super) fn truncate(arguments: Arguments<'_>) -> Result<Option<RawBson>, Error> {
    let (name, null) = (arguments.name(), Ok(Some(RawBson::Null)));
    let at = arguments.value(0)?;
    if is_null(&at) {
        return null;
    }
    let size = match arguments.value(2)? {
        _ if !arguments.has(2) => 1,
        size if is_null(&size) => return null,
        size => bin_size(arguments, &size)?,
    };
    let Some(unit) = Unit::of(arguments, 1)? else {
        return null;
    };
    let Some(first_weekday) = unit.first_weekday(arguments, 4)? else {
        return null;
    };
    let Some(zone) = zone(arguments, 3)? else {
        return null;
    };
    let at = millis(arguments, &at, 5_166_307)?;
    if !unit.is_short() && size > MAX_SIZE {
        return Err(failed(name, "its bin size is out of range", 5_439_006));
    }
    let overflow = || failed(name, "its bin size is out of range", 5_439_002);
    let times = |units: i64| units.checked_mul(size).ok_or_else(overflow);
    let (begin, out_of_range) = match (unit.months(), unit.millis().unwrap_or(DAY)) {
        (Some(months), _) => (of_months(at, times(months)?, &zone), 5_166_406),
        (None, millis) if unit.is_short() => (of_millis(at, times(millis)?, &zone), 5_439_001),
        (None, millis) => {
            let days = times(millis / DAY)?;
            (of_days(at, days, unit, first_weekday, &zone), 5_166_406)
        }
    };
    let begin = begin.ok_or_else(|| {
        let reason = "the begin of the bin is out of range";
        failed(name, reason, out_of_range)
    })?;
    Ok(date(begin))
}

/// The greatest number of units of a bin, of days and longer units.
const MAX_SIZE: i64 = 100_000_000_000;

fn bin_size(arguments: Arguments<'_>, size: &Option<RawBson>) -> Result<i64, Error> {
    let whole = size
        .as_ref()
        .and_then(|it| number::whole(it.as_raw_bson_ref()));
    let Some(whole) = whole else {
        let reason = format!("its bin size is a whole number, not {}", type_of(size));
        return Err(failed(arguments.name(), reason, 5_439_017));
    };
    if whole <= 0 {
        let reason = "its bin size must be greater than 0";
        return Err(failed(arguments.name(), reason, 5_439_018));
    }
    Ok(whole)
}

fn of_months(at: i64, size: i64, zone: &Zone) -> Option<i64> {
    let local = LocalTime::of(at, zone);
    let years = local.year.checked_sub(REFERENCE)?;
    let months = years
        .checked_mul(12)?
        .checked_add(local.month)?
        .checked_sub(1)?;
    let begin = months.checked_sub(months.rem_euclid(size))?;
    let year = begin.div_euclid(12).checked_add(REFERENCE)?;
    let month = begin.rem_euclid(12).checked_add(1)?;
    midnight(days_of(year, month, 1), zone)
}

fn of_days(at: i64, size: i64, unit: Unit, first_weekday: i64, zone: &Zone) -> Option<i64> {
    let mut reference = days_of(REFERENCE, 1, 1);
    if unit == Unit::Week {
        // The first one of these days of the week.
        let more = first_weekday.checked_sub(weekday(reference))?.rem_euclid(7);
        reference = reference.checked_add(more)?;
    }
    let days = LocalTime::of(at, zone).days();
    let past = days.checked_sub(reference)?.rem_euclid(size);
    midnight(days.checked_sub(past)?, zone)
}

fn midnight(days: i64, zone: &Zone) -> Option<i64> {
    zone.time_of(i128::from(days).checked_mul(DAY.into())?)
}

/// Hours and shorter units pass alike on all clocks: they are counted from the reference on, and not on the local clock.
fn of_millis(at: i64, size: i64, zone: &Zone) -> Option<i64> {
    let reference = midnight(days_of(REFERENCE, 1, 1), zone)?;
    at.checked_sub(at.checked_sub(reference)?.rem_euclid(size))
}
