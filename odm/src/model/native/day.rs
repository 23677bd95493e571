//! Days without a time, stored as the date of their start in UTC.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{
    error::{Error, ErrorKind},
    model::{Date, DateTime, Known, Operand, Ordered, SchemaTypes},
};

const DAY: i64 = 86_400_000;

/// The start of a day.
#[derive(Debug, Clone, Copy)]
pub struct Day(pub(super) DateTime);

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return self.0.serialize(serializer);
        }
        let text = self.0.to_string();
        let day = text.split_once('T').map_or(text.as_str(), |(day, _)| day);
        serializer.serialize_str(day)
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let date = DateTime::deserialize(deserializer)?;
        match date.timestamp_millis().rem_euclid(DAY) {
            0 => Ok(Day(date)),
            _ => Err(de::Error::custom(format!(
                "{date} is not the start of a day in UTC"
            ))),
        }
    }
}

impl Known for Day {
    const OPERAND: Option<Operand> = Some(Operand::scalar::<Self>());

    fn schema(types: &mut SchemaTypes) -> bson::Document {
        DateTime::schema(types)
    }
}

impl Ordered for Day {
    type Present = Self;
}

impl Date for Day {}

/// The error of a date that a type does not have.
pub(super) fn beyond(date: DateTime, what: &str) -> Error {
    let message = format!("date {date} is outside of the years of `{what}`");
    Error::new(ErrorKind::Decode, message)
}
