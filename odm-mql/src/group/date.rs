//! The start of the unit of time that contains a date.

use bson::DateTime;

/// A unit of time, in UTC and in the Gregorian calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateUnit {
    /// From a full hour to the next.
    Hour,
    /// From midnight to midnight.
    Day,
    /// From the first day of a month to the first day of the next.
    Month,
    /// From the first of January to the next.
    Year,
}

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

/// The days of the 400 years after which the calendar repeats.
const CYCLE: i64 = 146_097;

/// The days from the first of March of the year 0 to the start of 1970.
const EPOCH: i64 = 719_468;

impl DateUnit {
    /// Returns the start of the unit that contains a date, or the first date if the unit begins before it.
    #[allow(
        clippy::arithmetic_side_effects,
        reason = "the days of 64 bits of milliseconds are far from the bounds"
    )]
    pub fn start_of(self, date: DateTime) -> DateTime {
        let millis = date.timestamp_millis();
        let days = millis.div_euclid(DAY);
        DateTime::from_millis(match self {
            DateUnit::Hour => millis.div_euclid(HOUR).saturating_mul(HOUR),
            DateUnit::Day => days.saturating_mul(DAY),
            DateUnit::Month => {
                let (year, month) = month_of(days);
                first_day(year, month).saturating_mul(DAY)
            }
            DateUnit::Year => {
                let (year, month) = month_of(days);
                // The years of this calendar begin in March: January is the tenth month, counted from 0.
                let year = if month < 10 { year - 1 } else { year };
                first_day(year, 10).saturating_mul(DAY)
            }
        })
    }
}

/// The year that begins in March, and the month, counted from March as 0, of a day since 1970.
#[allow(
    clippy::arithmetic_side_effects,
    reason = "the days of 64 bits of milliseconds are far from the bounds"
)]
fn month_of(days: i64) -> (i64, i64) {
    let days = days + EPOCH;
    let (cycle, day) = (days.div_euclid(CYCLE), days.rem_euclid(CYCLE));
    // Days that a year of 365 days would not have count for the years that have passed.
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    (cycle * 400 + year, (5 * day + 2) / 153)
}

/// The first day of a month, since 1970.
#[allow(
    clippy::arithmetic_side_effects,
    reason = "the days of 64 bits of milliseconds are far from the bounds"
)]
fn first_day(year: i64, month: i64) -> i64 {
    let (cycle, year) = (year.div_euclid(400), year.rem_euclid(400));
    let day = 365 * year + year / 4 - year / 100 + (153 * month + 2) / 5;
    cycle * CYCLE + day - EPOCH
}
