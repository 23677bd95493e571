//! Dates of `time`.

use time::{Date, OffsetDateTime, UtcDateTime};

use super::{
    NativeForm,
    day::{Day, beyond},
};
use crate::{error::Result, model::DateTime};

const NANOS: i128 = 1_000_000;

impl From<OffsetDateTime> for DateTime {
    /// Cuts off what is below the millisecond, and the offset.
    fn from(date: OffsetDateTime) -> Self {
        let millis = date.unix_timestamp_nanos().div_euclid(NANOS);
        DateTime::from_millis(i64::try_from(millis).expect("the years of `time` are few"))
    }
}

impl From<UtcDateTime> for DateTime {
    /// Cuts off what is below the millisecond.
    fn from(date: UtcDateTime) -> Self {
        OffsetDateTime::from(date).into()
    }
}

impl NativeForm for OffsetDateTime {
    type Form = DateTime;

    fn to_form(&self) -> DateTime {
        (*self).into()
    }

    fn from_form(form: DateTime) -> Result<Self> {
        let nanos = i128::from(form.timestamp_millis()) * NANOS;
        let date = OffsetDateTime::from_unix_timestamp_nanos(nanos);
        date.map_err(|error| beyond(form, "time::OffsetDateTime").with_source(error))
    }
}

impl NativeForm for UtcDateTime {
    type Form = DateTime;

    fn to_form(&self) -> DateTime {
        (*self).into()
    }

    fn from_form(form: DateTime) -> Result<Self> {
        OffsetDateTime::from_form(form).map(UtcDateTime::from)
    }
}

impl NativeForm for Date {
    type Form = Day;

    fn to_form(&self) -> Day {
        Day(self.midnight().assume_utc().into())
    }

    fn from_form(Day(date): Day) -> Result<Self> {
        OffsetDateTime::from_form(date).map(OffsetDateTime::date)
    }
}
