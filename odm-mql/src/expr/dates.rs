//! The operators of expressions on dates.

mod calendar;
mod difference;
mod format;
mod parts;
mod read;
mod shift;
mod truncate;
mod unit;
mod zone;

use bson::{DateTime, RawBson};

use self::{calendar::LocalTime, zone::Zone};
use super::{
    evaluate::{is_null, type_of},
    failed,
    named::{Arguments, NamedOperator},
};
use crate::Error;

pub(super) use self::parts::check as check_parts;

/// The value of an operator on dates.
pub(super) fn evaluate(arguments: Arguments<'_>) -> Result<Option<RawBson>, Error> {
    use NamedOperator::*;
    match arguments.operator() {
        DateAdd | DateSubtract => shift::shift(arguments),
        DateDiff => difference::difference(arguments),
        DateTrunc => truncate::truncate(arguments),
        DateFromParts => parts::from_parts(arguments),
        DateFromString => read::from_string(arguments),
        DateToParts => parts::to_parts(arguments),
        DateToString => format::to_string(arguments),
        _ => part(arguments),
    }
}

/// One part of a date: `$year` and its like.
fn part(arguments: Arguments<'_>) -> Result<Option<RawBson>, Error> {
    use NamedOperator::*;
    let date = arguments.value(0)?;
    if is_null(&date) {
        return Ok(Some(RawBson::Null));
    }
    let millis = millis(arguments, &date, 16_006)?;
    let Some(zone) = zone(arguments, 1)? else {
        return Ok(Some(RawBson::Null));
    };
    let moment = LocalTime::of(millis, &zone);
    let part = match arguments.operator() {
        Year => moment.year,
        Month => moment.month,
        DayOfMonth => moment.day,
        DayOfYear => moment.day_of_year,
        DayOfWeek => moment.weekday.saturating_add(1),
        Week => moment.week(),
        // The type of MongoDB's result.
        IsoWeekYear => return Ok(Some(RawBson::Int64(moment.iso_week().0))),
        IsoWeek => moment.iso_week().1,
        IsoDayOfWeek => moment.iso_weekday(),
        Hour => moment.hour,
        Minute => moment.minute,
        Second => moment.second,
        _ => moment.millisecond,
    };
    Ok(Some(int(part)))
}

/// A part of a date, which has 32 bits but for years far away.
fn int(part: i64) -> RawBson {
    i32::try_from(part).map_or(RawBson::Int64(part), RawBson::Int32)
}

/// The time zone in an argument, or `None` if it is null. Without the argument it is UTC.
fn zone(arguments: Arguments<'_>, place: usize) -> Result<Option<Zone>, Error> {
    if !arguments.has(place) {
        return Ok(Some(Zone::UTC));
    }
    match arguments.value(place)? {
        Some(RawBson::String(name)) => match Zone::parse(&name) {
            Some(zone) => Ok(Some(zone)),
            None => Err(failed(arguments.name(), Zone::missing(&name), 40_485)),
        },
        value if is_null(&value) => Ok(None),
        value => {
            let reason = format!("a time zone is a text, not {}", type_of(&value));
            Err(failed(arguments.name(), reason, 40_517))
        }
    }
}

/// The milliseconds of a date, of a timestamp or of the time in an ObjectId.
fn millis(arguments: Arguments<'_>, value: &Option<RawBson>, code: i32) -> Result<i64, Error> {
    match value {
        Some(RawBson::DateTime(date)) => Ok(date.timestamp_millis()),
        Some(RawBson::Timestamp(timestamp)) => Ok(i64::from(timestamp.time).saturating_mul(1_000)),
        Some(RawBson::ObjectId(id)) => {
            let [a, b, c, d, ..] = id.bytes();
            let seconds = i64::from(i32::from_be_bytes([a, b, c, d]));
            Ok(seconds.saturating_mul(1_000))
        }
        value => {
            let reason = format!("it needs a date, not {}", type_of(value));
            Err(failed(arguments.name(), reason, code))
        }
    }
}

fn date(millis: i64) -> Option<RawBson> {
    Some(RawBson::DateTime(DateTime::from_millis(millis)))
}
