//! The Gregorian calendar, for all dates of 64 bits of milliseconds.

#![allow(
    clippy::arithmetic_side_effects,
    reason = "the parts of 64 bits of milliseconds are far from the bounds, and other parts are bounded before"
)]

use super::zone::Zone;

pub(super) const SECOND: i64 = 1_000;
pub(super) const MINUTE: i64 = 60 * SECOND;
pub(super) const HOUR: i64 = 60 * MINUTE;
pub(super) const DAY: i64 = 24 * HOUR;

/// The parts of a date in a time zone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LocalTime {
    pub(super) year: i64,
    /// From 1 on.
    pub(super) month: i64,
    /// From 1 on.
    pub(super) day: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
    pub(super) millisecond: i64,
    /// From 0 on, which is Sunday.
    pub(super) weekday: i64,
    /// From 1 on.
    pub(super) day_of_year: i64,
}

impl LocalTime {
    pub(super) fn of(millis: i64, zone: &Zone) -> LocalTime {
        LocalTime::of_local(zone.local(millis))
    }

    /// The parts of milliseconds on a local clock, which may be beyond 64 bits by the offset of a zone.
    pub(super) fn of_local(local: i128) -> LocalTime {
        let day_millis = i128::from(DAY);
        let days = local.div_euclid(day_millis) as i64;
        let millis = local.rem_euclid(day_millis) as i64;
        let (year, month, day) = civil(days);
        LocalTime {
            year,
            month,
            day,
            hour: millis / HOUR,
            minute: millis / MINUTE % 60,
            second: millis / SECOND % 60,
            millisecond: millis % SECOND,
            weekday: weekday(days),
            day_of_year: days - days_of(year, 1, 1) + 1,
        }
    }

    /// The days since 1970.
    pub(super) fn days(&self) -> i64 {
        days_of(self.year, self.month, self.day)
    }

    /// The milliseconds since midnight.
    pub(super) fn millis_of_day(&self) -> i64 {
        self.hour * HOUR + self.minute * MINUTE + self.second * SECOND + self.millisecond
    }

    /// From 1 on, which is Monday.
    pub(super) fn iso_weekday(&self) -> i64 {
        (self.weekday + 6) % 7 + 1
    }

    /// The week of the year, which begins on Sunday: days before the first Sunday are in week 0.
    pub(super) fn week(&self) -> i64 {
        (self.day_of_year + 6 - self.weekday) / 7
    }

    /// The year and the week of ISO 8601, in whose first week is the first Thursday.
    pub(super) fn iso_week(&self) -> (i64, i64) {
        let week = (self.day_of_year - self.iso_weekday() + 10) / 7;
        if week < 1 {
            (self.year - 1, iso_weeks(self.year - 1))
        } else if week > iso_weeks(self.year) {
            (self.year + 1, 1)
        } else {
            (self.year, week)
        }
    }
}

/// The number of weeks of a year of ISO 8601.
fn iso_weeks(year: i64) -> i64 {
    let first = (weekday(days_of(year, 1, 1)) + 6) % 7 + 1;
    let is_long = first == 4 || first == 3 && is_leap(year);
    52 + i64::from(is_long)
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// The number of days of a month.
pub(super) fn days_in(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(is_leap(year)),
        _ => 31,
    }
}

/// The day of the week of a day since 1970, from Sunday as 0 on.
pub(super) fn weekday(days: i64) -> i64 {
    (days + 4).rem_euclid(7)
}

/// The days since 1970 of a date, whose day may be any number.
pub(super) fn days_of(year: i64, month: i64, day: i64) -> i64 {
    // The years of this calendar begin in March.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let (cycle, year) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    cycle * 146_097 + 365 * year + year / 4 - year / 100 + day_of_year - 719_468
}

/// The year, the month and the day of a day since 1970.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (cycle, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    // Days that a year of 365 days would not have count for the years that have passed.
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let year = cycle * 400 + year;
    if month < 10 {
        (year, month + 3, day)
    } else {
        (year + 1, month - 9, day)
    }
}

/// The first day of a year of ISO 8601: the Monday of its first week.
pub(super) fn iso_year_start(year: i64) -> i64 {
    let fourth = days_of(year, 1, 4);
    fourth - (weekday(fourth) + 6) % 7
}
