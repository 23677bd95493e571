//! `$dateFromParts` and `$dateToParts`.

use bson::{
    RawBson, RawDocumentBuf,
    raw::{CString, cstr},
};

use super::{
    calendar::{DAY, HOUR, LocalTime, MINUTE, SECOND, days_of, iso_year_start},
    date, int, millis, zone,
};
use crate::{
    Error,
    expr::{
        evaluate::{is_null, type_of},
        failed,
        named::{Arguments, Named},
    },
    number,
    types::bad_as,
};

// The places of arguments.
const YEAR: usize = 0;
const MONTH: usize = 1;
const DAY_OF_MONTH: usize = 2;
const ISO_YEAR: usize = 3;
const ISO_WEEK: usize = 4;
const ISO_DAY: usize = 5;
const HOURS: usize = 6;
const MINUTES: usize = 7;
const SECONDS: usize = 8;
const MILLIS: usize = 9;
const TIMEZONE: usize = 10;

/// Checks that the parts are of one calendar.
pub(in crate::expr) fn check(named: &Named) -> Result<(), Error> {
    let bad = |code, expected| Err(bad_as(code, "$dateFromParts", expected));
    let has_any = |places: &[usize]| places.iter().any(|place| named.has(*place));
    match (named.has(YEAR), named.has(ISO_YEAR)) {
        (false, false) => bad(40_516, "a `year` or an `isoWeekYear`"),
        (true, _) if has_any(&[ISO_YEAR, ISO_WEEK, ISO_DAY]) => {
            bad(40_489, "the parts of one calendar")
        }
        (_, true) if has_any(&[MONTH, DAY_OF_MONTH]) => bad(40_525, "the parts of one calendar"),
        _ => Ok(()),
    }
}

/// The date of parts. Parts that are out of their range carry over to the larger ones.
pub(super) fn from_parts(arguments: Arguments<'_>) -> Result<Option<RawBson>, Error> {
    let (name, null) = (arguments.name(), Ok(Some(RawBson::Null)));
    let mut parts = [0; TIMEZONE];
    for place in [HOURS, MINUTES, SECONDS, MILLIS] {
        match part(arguments, place)? {
            Some(value) => parts[place] = value,
            None => return null,
        }
    }
    let Some(zone) = zone(arguments, TIMEZONE)? else {
        return null;
    };
    let is_iso = arguments.has(ISO_YEAR);
    let days = match is_iso {
        true => [ISO_YEAR, ISO_WEEK, ISO_DAY],
        false => [YEAR, MONTH, DAY_OF_MONTH],
    };
    for place in days {
        match part(arguments, place)? {
            Some(value) => parts[place] = value,
            None => return null,
        }
    }
    if !(1..=9_999).contains(&parts[days[0]]) {
        let code = if is_iso { 31_095 } else { 40_523 };
        return Err(failed(name, "its year must be within 1 and 9999", code));
    }
    let part = |place: usize| parts[place];
    let days = if is_iso {
        let weeks = part(ISO_WEEK).saturating_sub(1).saturating_mul(7);
        let days = weeks.saturating_add(part(ISO_DAY)).saturating_sub(1);
        iso_year_start(part(ISO_YEAR)).saturating_add(days)
    } else {
        let months = part(YEAR)
            .saturating_mul(12)
            .saturating_add(part(MONTH))
            .saturating_sub(1);
        let month = months.rem_euclid(12).saturating_add(1);
        days_of(months.div_euclid(12), month, part(DAY_OF_MONTH))
    };
    let units = [
        (days, DAY),
        (part(HOURS), HOUR),
        (part(MINUTES), MINUTE),
        (part(SECONDS), SECOND),
        (part(MILLIS), 1),
    ];
    let clock = units.into_iter().fold(0_i128, |sum, (number, unit)| {
        sum.saturating_add(i128::from(number).saturating_mul(unit.into()))
    });
    match zone.time_of(clock) {
        Some(time) => Ok(date(time)),
        None => Err(failed(name, "the date is out of range", 40_523)),
    }
}

/// The number in an argument, or `None` if it is null. Without the argument it is the first one.
fn part(arguments: Arguments<'_>, place: usize) -> Result<Option<i64>, Error> {
    if !arguments.has(place) {
        return Ok(Some(i64::from(place < HOURS)));
    }
    let value = arguments.value(place)?;
    if is_null(&value) {
        return Ok(None);
    }
    let whole = value
        .as_ref()
        .and_then(|it| number::whole(it.as_raw_bson_ref()));
    let part = whole.ok_or_else(|| {
        let reason = format!("its parts are whole numbers, not {}", type_of(&value));
        failed(arguments.name(), reason, 40_515)
    })?;
    let is_bounded = !matches!(place, YEAR | ISO_YEAR | SECONDS | MILLIS);
    if is_bounded && i16::try_from(part).is_err() {
        let reason = "a part must be within -32768 and 32767";
        return Err(failed(arguments.name(), reason, 31_034));
    }
    Ok(Some(part))
}

/// The parts of a date as a document.
pub(super) fn to_parts(arguments: Arguments<'_>) -> Result<Option<RawBson>, Error> {
    let value = arguments.value(0)?;
    let Some(zone) = zone(arguments, 1)? else {
        return Ok(Some(RawBson::Null));
    };
    let is_iso = match arguments.value(2)? {
        _ if !arguments.has(2) => Some(false),
        Some(RawBson::Boolean(is_iso)) => Some(is_iso),
        value if is_null(&value) => None,
        value => {
            let reason = format!("`iso8601` is a boolean, not {}", type_of(&value));
            return Err(failed(arguments.name(), reason, 40_521));
        }
    };
    let (Some(is_iso), false) = (is_iso, is_null(&value)) else {
        return Ok(Some(RawBson::Null));
    };
    let moment = LocalTime::of(millis(arguments, &value, 16_006)?, &zone);
    let mut parts = RawDocumentBuf::new();
    let mut add = |name: CString, part| parts.append(name, int(part));
    if is_iso {
        let (year, week) = moment.iso_week();
        add(cstr!("isoWeekYear").into(), year);
        add(cstr!("isoWeek").into(), week);
        add(cstr!("isoDayOfWeek").into(), moment.iso_weekday());
    } else {
        add(cstr!("year").into(), moment.year);
        add(cstr!("month").into(), moment.month);
        add(cstr!("day").into(), moment.day);
    }
    add(cstr!("hour").into(), moment.hour);
    add(cstr!("minute").into(), moment.minute);
    add(cstr!("second").into(), moment.second);
    add(cstr!("millisecond").into(), moment.millisecond);
    Ok(Some(RawBson::Document(parts)))
}
