//! Dates of `jiff`.

use jiff::{SignedDuration, Timestamp, civil::Date};
use odm_store::Result;

use super::{
    NativeForm,
    day::{Dated, Dates, Day, beyond},
};
use crate::model::DateTime;

const NANOS: i128 = 1_000_000;

/// The day at whose start dates begin to count.
const FIRST: Date = Date::constant(1970, 1, 1);

impl From<Timestamp> for DateTime {
    /// Truncates to milliseconds.
    fn from(date: Timestamp) -> Self {
        let millis = date.as_nanosecond().div_euclid(NANOS);
        DateTime::from_millis(i64::try_from(millis).expect("the years of `jiff` are few"))
    }
}

impl Dates for Timestamp {
    fn range() -> (DateTime, DateTime) {
        (Timestamp::MIN.into(), Timestamp::MAX.into())
    }
}

impl NativeForm for Timestamp {
    type Form = Dated<Self>;

    fn to_form(&self) -> Dated<Self> {
        Dated::new((*self).into())
    }

    fn from_form(Dated(form, _): Dated<Self>) -> Result<Self> {
        let nanos = i128::from(form.timestamp_millis()) * NANOS;
        let date = Timestamp::from_nanosecond(nanos);
        date.map_err(|error| beyond(form, "jiff::Timestamp").with_source(error))
    }
}

impl Dates for Date {
    fn range() -> (DateTime, DateTime) {
        (Date::MIN.to_form().0, Date::MAX.to_form().0)
    }
}

impl NativeForm for Date {
    type Form = Day<Self>;

    #[allow(
        clippy::arithmetic_side_effects,
        reason = "the years of the crate are far from the bounds"
    )]
    fn to_form(&self) -> Day<Self> {
        let since = self.duration_since(FIRST);
        Day::new(DateTime::from_millis(since.as_secs() * 1000))
    }

    fn from_form(Day(date, _): Day<Self>) -> Result<Self> {
        // Not through a `Timestamp`, whose range lacks the first and the last day.
        let since = SignedDuration::from_millis(date.timestamp_millis());
        let day = FIRST.checked_add(since);
        day.map_err(|error| beyond(date, "jiff::civil::Date").with_source(error))
    }
}
