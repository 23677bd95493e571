//! Units of time, and the first day of a week.

use bson::RawBson;

use super::calendar::{DAY, HOUR, MINUTE, SECOND};
use crate::{
    Error,
    error::code,
    expr::{
        evaluate::{is_null, type_of},
        failed,
        named::Arguments,
    },
};

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Year,
    Quarter,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
}

const UNITS: [(&str, Unit); 9] = [
    ("year", Unit::Year),
    ("quarter", Unit::Quarter),
    ("month", Unit::Month),
    ("week", Unit::Week),
    ("day", Unit::Day),
    ("hour", Unit::Hour),
    ("minute", Unit::Minute),
    ("second", Unit::Second),
    ("millisecond", Unit::Millisecond),
];

/// The days of the week, from Sunday as 0 on.
const WEEKDAYS: [&str; 7] = [
    "sunday",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
];

impl Unit {
    /// The unit in an argument, or `None` if it is null.
    pub(super) fn of(arguments: Arguments<'_>, place: usize) -> Result<Option<Unit>, Error> {
        match arguments.value(place)? {
            Some(RawBson::String(name)) => {
                let found = UNITS.iter().find(|(other, _)| *other == name);
                let reason = || format!("there is no unit of time `{name}`");
                match found {
                    Some((_, unit)) => Ok(Some(*unit)),
                    None => Err(failed(arguments.name(), reason(), code::FAILED_TO_PARSE)),
                }
            }
            value if is_null(&value) => Ok(None),
            value => {
                let reason = format!("a unit of time is a text, not {}", type_of(&value));
                Err(failed(arguments.name(), reason, 5_439_013))
            }
        }
    }

    /// The milliseconds of a unit of fixed length.
    pub(super) fn millis(self) -> Option<i64> {
        match self {
            Unit::Year | Unit::Quarter | Unit::Month => None,
            Unit::Week => Some(7 * DAY),
            Unit::Day => Some(DAY),
            Unit::Hour => Some(HOUR),
            Unit::Minute => Some(MINUTE),
            Unit::Second => Some(SECOND),
            Unit::Millisecond => Some(1),
        }
    }

    /// The months of a unit that is made of them.
    pub(super) fn months(self) -> Option<i64> {
        match self {
            Unit::Year => Some(12),
            Unit::Quarter => Some(3),
            Unit::Month => Some(1),
            _ => None,
        }
    }

    /// The first day of the week in an argument that counts for weeks alone, as [`start_of_week`].
    pub(super) fn first_weekday(
        self,
        arguments: Arguments<'_>,
        place: usize,
    ) -> Result<Option<i64>, Error> {
        match self {
            Unit::Week => start_of_week(arguments, place),
            _ => Ok(Some(0)),
        }
    }

    /// Whether the unit is shorter than a day.
    pub(super) fn is_short(self) -> bool {
        matches!(
            self,
            Unit::Hour | Unit::Minute | Unit::Second | Unit::Millisecond
        )
    }
}

/// The first day of the week in an argument, from Sunday as 0 on, or `None` if it is null. Without the argument it is Sunday.
fn start_of_week(arguments: Arguments<'_>, place: usize) -> Result<Option<i64>, Error> {
    if !arguments.has(place) {
        return Ok(Some(0));
    }
    match arguments.value(place)? {
        Some(RawBson::String(name)) => {
            let lower = name.to_ascii_lowercase();
            let is_short = |day: &str| lower.len() == 3 && day.starts_with(&lower);
            let mut days = (0..).zip(WEEKDAYS);
            match days.find(|(_, day)| *day == lower || is_short(day)) {
                Some((number, _)) => Ok(Some(number)),
                None => {
                    let reason = format!("there is no day of the week `{name}`");
                    Err(failed(arguments.name(), reason, 5_439_016))
                }
            }
        }
        value if is_null(&value) => Ok(None),
        value => {
            let reason = format!("a day of the week is a text, not {}", type_of(&value));
            Err(failed(arguments.name(), reason, 5_439_015))
        }
    }
}
