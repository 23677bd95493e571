//! Dates of `chrono`.

use chrono::{NaiveDate, NaiveTime, Utc};

use super::{
    NativeForm,
    day::{Day, beyond},
};
use crate::{error::Result, model::DateTime};

impl From<chrono::DateTime<Utc>> for DateTime {
    /// Cuts off what is below the millisecond. A leap second is the last millisecond before it.
    fn from(date: chrono::DateTime<Utc>) -> Self {
        let millis = date.timestamp_subsec_millis().min(999);
        DateTime::from_millis(date.timestamp() * 1000 + i64::from(millis))
    }
}

impl NativeForm for chrono::DateTime<Utc> {
    type Form = DateTime;

    fn to_form(&self) -> DateTime {
        (*self).into()
    }

    fn from_form(form: DateTime) -> Result<Self> {
        let date = chrono::DateTime::from_timestamp_millis(form.timestamp_millis());
        date.ok_or_else(|| beyond(form, "chrono::DateTime"))
    }
}

impl NativeForm for NaiveDate {
    type Form = Day;

    fn to_form(&self) -> Day {
        Day(self.and_time(NaiveTime::MIN).and_utc().into())
    }

    fn from_form(Day(date): Day) -> Result<Self> {
        let start = chrono::DateTime::from_timestamp_millis(date.timestamp_millis());
        let day = start.map(|start| start.date_naive());
        day.ok_or_else(|| beyond(date, "chrono::NaiveDate"))
    }
}
