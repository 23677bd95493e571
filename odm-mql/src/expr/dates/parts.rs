//! `$dateFromParts` and `$dateToParts`.

use bson::{
    RawBson, RawDocumentBuf,
    raw::{CString, cstr},
};

use super::{
    calendar::{DAY, HOUR, MINUTE, Moment, SECOND, days_of, iso_year_start},
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

/// Checks which parts are given: those of one calendar.
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
    let name = arguments.name();
    let mut parts = [0; TIMEZONE];
    let mut is_any_null = false;
    for (place, part) in parts.iter_mut().enumerate() {
        if !arguments.has(place) {
            *part = i64::from(place < HOURS);
            continue;
        }
        let value = arguments.value(place)?;
        if is_null(&value) {
            is_any_null = true;
            continue;
        }
        let whole = value
            .as_ref()
            .and_then(|it| number::whole(it.as_raw_bson_ref()));
        *part = whole.ok_or_else(|| {
            let reason = format!("its parts are whole numbers, not {}", type_of(&value));
            failed(name, reason, 40_515)
        })?;
        let is_year = place == YEAR || place == ISO_YEAR;
        if is_year && !(1..=9_999).contains(part) {
            return Err(failed(name, "its year must be within 1 and 9999", 40_523));
        }
        let is_long = place == SECONDS || place == MILLIS;
        if !is_year && !is_long && i16::try_from(*part).is_err() {
            return Err(failed(
                name,
                "a part must be within -32768 and 32767",
                31_034,
            ));
        }
    }
    let (Some(zone), false) = (zone(arguments, TIMEZONE)?, is_any_null) else {
        return Ok(Some(RawBson::Null));
    };
    let part = |place: usize| parts.get(place).copied().unwrap_or_default();
    let days = if arguments.has(ISO_YEAR) {
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

/// The parts of a date as a document.
pub(super) fn to_parts(arguments: Arguments<'_>) -> Result<Option<RawBson>, Error> {
    let value = arguments.value(0)?;
    let zone = zone(arguments, 1)?;
    let is_iso = match arguments.value(2)? {
        _ if !arguments.has(2) => Some(false),
        Some(RawBson::Boolean(is_iso)) => Some(is_iso),
        value if is_null(&value) => None,
        value => {
            let reason = format!("`iso8601` is a boolean, not {}", type_of(&value));
            return Err(failed(arguments.name(), reason, 40_521));
        }
    };
    let (Some(zone), Some(is_iso), false) = (zone, is_iso, is_null(&value)) else {
        return Ok(Some(RawBson::Null));
    };
    let moment = Moment::of(millis(arguments, &value, 16_006)?, &zone);
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
