//! `$dateAdd` and `$dateSubtract`.

use bson::RawBson;

use super::{
    calendar::{DAY, LocalTime, days_in, days_of},
    date, millis,
    unit::Unit,
    zone,
};
use crate::{
    Error,
    expr::{
        evaluate::{is_null, type_of},
        failed,
        named::{Arguments, NamedOperator},
    },
    number,
};

/// The milliseconds between the first and the last date.
const SPAN: i128 = u64::MAX as i128;

/// The date after or before an amount of time. Days and longer units are counted on the local clock.
pub(super) fn shift(arguments: Arguments<'_>) -> Result<Option<RawBson>, Error> {
    let null = Ok(Some(RawBson::Null));
    let start = arguments.value(0)?;
    if is_null(&start) {
        return null;
    }
    let Some(unit) = Unit::of(arguments, 1)? else {
        return null;
    };
    let amount = arguments.value(2)?;
    if is_null(&amount) {
        return null;
    }
    let Some(zone) = zone(arguments, 3)? else {
        return null;
    };
    let start = millis(arguments, &start, 5_166_403)?;
    let name = arguments.name();
    let whole = amount
        .as_ref()
        .and_then(|it| number::whole(it.as_raw_bson_ref()));
    let Some(mut amount) = whole else {
        let reason = format!("its amount is a whole number, not {}", type_of(&amount));
        return Err(failed(name, reason, 5_166_405));
    };
    if arguments.operator() == NamedOperator::DateSubtract {
        amount = amount
            .checked_neg()
            .ok_or_else(|| failed(name, "its amount has no opposite", 6_045_000))?;
    }
    let unit_millis = unit.months().map_or(unit.millis(), |months| {
        // A month is not shorter.
        months.checked_mul(28 * DAY)
    });
    let is_within = unit_millis
        .and_then(|unit| i128::from(unit).checked_mul(amount.into()))
        .is_some_and(|span| span.abs() <= SPAN);
    if !is_within {
        return Err(failed(name, "its amount is out of range", 5_976_500));
    }
    let range = || failed(name, "the date is out of range", 5_166_406);
    let shifted = if unit.is_short() {
        let span = unit.millis().and_then(|unit| unit.checked_mul(amount));
        span.and_then(|span| start.checked_add(span))
    } else {
        let local = LocalTime::of(start, &zone);
        let days = match unit.months() {
            Some(months) => months.checked_mul(amount).and_then(|by| later(&local, by)),
            None => {
                let days = unit
                    .millis()
                    .and_then(|unit| amount.checked_mul(unit / DAY));
                days.and_then(|days| local.days().checked_add(days))
            }
        };
        let clock = days.and_then(|days| {
            let midnight = i128::from(days).checked_mul(DAY.into())?;
            midnight.checked_add(local.millis_of_day().into())
        });
        clock.and_then(|clock| zone.time_of(clock))
    };
    Ok(date(shifted.ok_or_else(range)?))
}

/// The day some months later, or the last one of that month if it is shorter.
fn later(moment: &LocalTime, months: i64) -> Option<i64> {
    let months = moment
        .year
        .checked_mul(12)?
        .checked_add(moment.month)?
        .checked_add(months)?;
    let months = months.checked_sub(1)?;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12).checked_add(1)?);
    Some(days_of(year, month, moment.day.min(days_in(year, month))))
}
