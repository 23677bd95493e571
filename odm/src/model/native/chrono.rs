//! Dates of `chrono`.

use chrono::{NaiveDate, NaiveTime, Utc};
use odm_store::Result;

use super::{
    NativeForm,
    day::{Dated, Dates, Day, beyond},
};
use crate::model::DateTime;

impl From<chrono::DateTime<Utc>> for DateTime {
    /// Truncates to milliseconds. A leap second is the last millisecond before it.
    #[allow(
        clippy::arithmetic_side_effects,
        reason = "the years of the crate are far from the bounds"
    )]
    fn from(date: chrono::DateTime<Utc>) -> Self {
        let millis = date.timestamp_subsec_millis().min(999);
        DateTime::from_millis(date.timestamp() * 1000 + i64::from(millis))
    }
}

impl Dates for chrono::DateTime<Utc> {
    fn range() -> (DateTime, DateTime) {
        (
            chrono::DateTime::<Utc>::MIN_UTC.into(),
            chrono::DateTime::<Utc>::MAX_UTC.into(),
        )
    }
}

impl NativeForm for chrono::DateTime<Utc> {
    type Form = Dated<Self>;

    fn to_form(&self) -> Dated<Self> {
        Dated::new((*self).into())
    }

    fn from_form(Dated(form, _): Dated<Self>) -> Result<Self> {
        let date = chrono::DateTime::from_timestamp_millis(form.timestamp_millis());
        date.ok_or_else(|| beyond(form, "chrono::DateTime"))
    }
}

impl Dates for NaiveDate {
    fn range() -> (DateTime, DateTime) {
        (NaiveDate::MIN.to_form().0, NaiveDate::MAX.to_form().0)
    }
}

impl NativeForm for NaiveDate {
    type Form = Day<Self>;

    fn to_form(&self) -> Day<Self> {
        Day::new(self.and_time(NaiveTime::MIN).and_utc().into())
    }

    fn from_form(Day(date, _): Day<Self>) -> Result<Self> {
        let start = chrono::DateTime::from_timestamp_millis(date.timestamp_millis());
        let day = start.map(|start| start.date_naive());
        day.ok_or_else(|| beyond(date, "chrono::NaiveDate"))
    }
}
