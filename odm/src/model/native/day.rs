//! Dates of other crates' types, and days without a time, stored as the date of their start in UTC.

use std::marker::PhantomData;

use bson::doc;
use odm_mql as mql;
use odm_store::{Error, ErrorKind};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::model::{Date, DateTime, Known, Operand, Ordered, SchemaTypes};

const DAY: i64 = 86_400_000;

/// A type with a limited range of dates.
pub trait Dates: 'static {
    /// Its first and its last date, as stored.
    fn range() -> (DateTime, DateTime);
}

/// A date in the range of `T`.
#[derive(Debug)]
pub struct Dated<T>(pub(super) DateTime, pub(super) PhantomData<T>);

/// The start of a day in the range of `T`.
#[derive(Debug)]
pub struct Day<T>(pub(super) DateTime, pub(super) PhantomData<T>);

impl<T> Dated<T> {
    pub(super) fn new(date: DateTime) -> Self {
        Dated(date, PhantomData)
    }
}

impl<T> Day<T> {
    pub(super) fn new(start: DateTime) -> Self {
        Day(start, PhantomData)
    }
}

impl<T> Serialize for Dated<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T> Deserialize<'de> for Dated<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        DateTime::deserialize(deserializer).map(Dated::new)
    }
}

impl<T> Serialize for Day<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return self.0.serialize(serializer);
        }
        let text = self.0.to_string();
        let day = text.split_once('T').map_or(text.as_str(), |(day, _)| day);
        serializer.serialize_str(day)
    }
}

impl<'de, T> Deserialize<'de> for Day<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let date = DateTime::deserialize(deserializer)?;
        match date.timestamp_millis().rem_euclid(DAY) {
            0 => Ok(Day::new(date)),
            _ => Err(de::Error::custom(format!(
                "{date} is not the start of a day in UTC"
            ))),
        }
    }
}

fn schema<T: Dates>(kind: &str) -> bson::Document {
    let (first, last) = T::range();
    let range = mql::native_dates(kind, first.timestamp_millis(), last.timestamp_millis());
    doc! { "bsonType": "date", "nativeForm": range }
}

impl<T: Dates> Known for Dated<T> {
    const OPERAND: Option<Operand> = Some(Operand::ordered::<Self>());

    fn schema(_: &mut SchemaTypes) -> bson::Document {
        schema::<T>("date")
    }
}

impl<T: Dates> Known for Day<T> {
    const OPERAND: Option<Operand> = Some(Operand::ordered::<Self>());

    fn schema(_: &mut SchemaTypes) -> bson::Document {
        schema::<T>("day")
    }
}

impl<T: Dates> Ordered for Dated<T> {
    type Present = Self;
}

impl<T: Dates> Ordered for Day<T> {
    type Present = Self;
}

#[diagnostic::do_not_recommend]
impl<T: Dates> Date for Dated<T> {}
#[diagnostic::do_not_recommend]
impl<T: Dates> Date for Day<T> {}

/// The error for a date outside of the range of a type.
pub(super) fn beyond(date: DateTime, what: &str) -> Error {
    let message = format!("date {date} is outside of the years of `{what}`");
    Error::new(ErrorKind::Decode, message)
}
