//! Dates of `jiff`.

use jiff::{SignedDuration, Timestamp, civil::Date};

use super::{
    NativeForm,
    day::{Day, beyond},
};
use crate::{error::Result, model::DateTime};

const NANOS: i128 = 1_000_000;

/// The day at whose start dates begin to count.
const FIRST: Date = Date::constant(1970, 1, 1);

impl From<Timestamp> for DateTime {
    /// Cuts off what is below the millisecond.
    fn from(date: Timestamp) -> Self {
        let millis = date.as_nanosecond().div_euclid(NANOS);
        DateTime::from_millis(i64::try_from(millis).expect("the years of `jiff` are few"))
    }
}

impl NativeForm for Timestamp {
    type Form = DateTime;

    fn to_form(&self) -> DateTime {
        (*self).into()
    }

    fn from_form(form: DateTime) -> Result<Self> {
        let nanos = i128::from(form.timestamp_millis()) * NANOS;
        let date = Timestamp::from_nanosecond(nanos);
        date.map_err(|error| beyond(form, "jiff::Timestamp").with_source(error))
    }
}

impl NativeForm for Date {
    type Form = Day;

    fn to_form(&self) -> Day {
        let since = self.duration_since(FIRST);
        Day(DateTime::from_millis(since.as_secs() * 1000))
    }

    fn from_form(Day(date): Day) -> Result<Self> {
        // Not by way of a `Timestamp`, which does not have the first and the last day.
        let since = SignedDuration::from_millis(date.timestamp_millis());
        let day = FIRST.checked_add(since);
        day.map_err(|error| beyond(date, "jiff::civil::Date").with_source(error))
    }
}
