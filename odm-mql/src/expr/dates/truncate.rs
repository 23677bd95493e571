//! `$dateTrunc`.

use bson::RawBson;

use super::{
    calendar::{DAY, Moment, days_of, weekday},
    date, millis,
    unit::{Unit, start_of_week},
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
    let at = arguments.value(0)?;
    let unit = Unit::of(arguments, 1)?;
    let size = arguments.value(2)?;
    let zone = zone(arguments, 3)?;
    let first_weekday = match unit {
        Some(Unit::Week) => start_of_week(arguments, 4)?,
        _ => Some(0),
    };
    let (Some(unit), Some(zone), Some(first_weekday)) = (unit, zone, first_weekday) else {
        return Ok(Some(RawBson::Null));
    };
    if is_null(&at) || arguments.has(2) && is_null(&size) {
        return Ok(Some(RawBson::Null));
    }
    let at = millis(arguments, &at, 5_166_307)?;
    let size = if arguments.has(2) {
        bin_size(arguments, &size)?
    } else {
        1
    };
    let overflow = || {
        failed(
            arguments.name(),
            "its bin size is out of range",
            too_large(unit),
        )
    };
    let begin = match (unit.months(), unit.millis()) {
        (Some(months), _) => {
            let size = months.checked_mul(size).filter(|size| *size <= MAX_MONTHS);
            of_months(at, size.ok_or_else(overflow)?, &zone)
        }
        (None, Some(millis)) if unit.is_short() => {
            let size = millis.checked_mul(size).ok_or_else(overflow)?;
            of_millis(at, size, &zone)
        }
        (None, millis) => {
            let size = millis.and_then(|millis| millis.checked_mul(size));
            let days = size.ok_or_else(overflow)? / DAY;
            of_days(at, days, unit, first_weekday, &zone)
        }
    };
    let begin = begin.ok_or_else(|| {
        failed(
            arguments.name(),
            "the begin of the bin is out of range",
            5_439_005,
        )
    })?;
    Ok(date(begin))
}

/// The most months of a bin: those of 100,000,000,000 years.
const MAX_MONTHS: i64 = 1_200_000_000_000;

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

/// The code of a bin size that is out of range.
fn too_large(unit: Unit) -> i32 {
    match unit {
        Unit::Millisecond | Unit::Second => 5_439_000,
        Unit::Minute => 5_439_001,
        Unit::Hour => 5_439_002,
        Unit::Day => 5_439_003,
        Unit::Week => 5_439_004,
        Unit::Month | Unit::Quarter => 5_439_005,
        Unit::Year => 5_439_006,
    }
}

fn of_months(at: i64, size: i64, zone: &Zone) -> Option<i64> {
    let local = Moment::of(at, zone);
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
    let days = Moment::of(at, zone).days();
    let past = days.checked_sub(reference)?.rem_euclid(size);
    midnight(days.checked_sub(past)?, zone)
}

fn midnight(days: i64, zone: &Zone) -> Option<i64> {
    zone.time_of(i128::from(days).checked_mul(DAY.into())?)
}

/// Hours and shorter units pass alike on all clocks.
fn of_millis(at: i64, size: i64, zone: &Zone) -> Option<i64> {
    let reference = i128::from(days_of(REFERENCE, 1, 1)).checked_mul(DAY.into())?;
    let past = zone
        .local(at)
        .checked_sub(reference)?
        .rem_euclid(size.into());
    at.checked_sub(i64::try_from(past).ok()?)
}
