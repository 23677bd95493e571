//! Dates of `time`.

use odm_store::Result;
use time::{Date, OffsetDateTime, PrimitiveDateTime, UtcDateTime};

use super::{
    NativeForm,
    day::{Dated, Dates, Day, beyond},
};
use crate::model::DateTime;

const NANOS: i128 = 1_000_000;

impl From<OffsetDateTime> for DateTime {
    /// Truncates to milliseconds, and drops the offset.
    fn from(date: OffsetDateTime) -> Self {
        let millis = date.unix_timestamp_nanos().div_euclid(NANOS);
        DateTime::from_millis(i64::try_from(millis).expect("the years of `time` are few"))
    }
}

impl From<UtcDateTime> for DateTime {
    /// Truncates to milliseconds.
    fn from(date: UtcDateTime) -> Self {
        OffsetDateTime::from(date).into()
    }
}

impl Dates for OffsetDateTime {
    fn range() -> (DateTime, DateTime) {
        (
            PrimitiveDateTime::MIN.assume_utc().into(),
            PrimitiveDateTime::MAX.assume_utc().into(),
        )
    }
}

impl NativeForm for OffsetDateTime {
    type Form = Dated<Self>;

    fn to_form(&self) -> Dated<Self> {
        Dated::new((*self).into())
    }

    fn from_form(Dated(form, _): Dated<Self>) -> Result<Self> {
        at(form)
    }
}

impl Dates for UtcDateTime {
    fn range() -> (DateTime, DateTime) {
        (UtcDateTime::MIN.into(), UtcDateTime::MAX.into())
    }
}

impl NativeForm for UtcDateTime {
    type Form = Dated<Self>;

    fn to_form(&self) -> Dated<Self> {
        Dated::new((*self).into())
    }

    fn from_form(Dated(form, _): Dated<Self>) -> Result<Self> {
        at(form).map(UtcDateTime::from)
    }
}

impl Dates for Date {
    fn range() -> (DateTime, DateTime) {
        (Date::MIN.to_form().0, Date::MAX.to_form().0)
    }
}

impl NativeForm for Date {
    type Form = Day<Self>;

    fn to_form(&self) -> Day<Self> {
        Day::new(self.midnight().assume_utc().into())
    }

    fn from_form(Day(date, _): Day<Self>) -> Result<Self> {
        at(date).map(OffsetDateTime::date)
    }
}

fn at(form: DateTime) -> Result<OffsetDateTime> {
    let nanos = i128::from(form.timestamp_millis()) * NANOS;
    let date = OffsetDateTime::from_unix_timestamp_nanos(nanos);
    date.map_err(|error| beyond(form, "time::OffsetDateTime").with_source(error))
}
