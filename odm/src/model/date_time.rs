//! Points in time.

use std::{fmt, str::FromStr, time::SystemTime};

use bson::RawBson;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::error::{Error, ErrorKind};

/// A point in time, to the millisecond, in UTC.
///
/// It is native in BSON, and RFC 3339 in JSON and other text formats.
///
/// ```
/// let date: odm::DateTime = "2014-03-28T09:42:41.382Z".parse().unwrap();
/// assert_eq!(serde_json::to_string(&date).unwrap(), "\"2014-03-28T09:42:41.382Z\"");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateTime(bson::DateTime);

impl DateTime {
    /// Now.
    pub fn now() -> Self {
        DateTime(bson::DateTime::now())
    }

    /// The point `millis` milliseconds after the start of 1970 in UTC.
    pub const fn from_millis(millis: i64) -> Self {
        DateTime(bson::DateTime::from_millis(millis))
    }

    /// Milliseconds since the start of 1970 in UTC.
    pub const fn timestamp_millis(self) -> i64 {
        self.0.timestamp_millis()
    }
}

impl fmt::Debug for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DateTime({self})")
    }
}

impl fmt::Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.try_to_rfc3339_string() {
            Ok(text) => f.write_str(&text),
            // RFC 3339 has four digits for the year.
            Err(_) => write!(f, "{} ms since 1970", self.timestamp_millis()),
        }
    }
}

impl FromStr for DateTime {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        // A date alone, as the guides write it, is the start of that day.
        let full;
        let parsed = if text.len() == 10 {
            full = format!("{text}T00:00:00Z");
            &full
        } else {
            text
        };
        bson::DateTime::parse_rfc3339_str(parsed)
            .map(DateTime)
            .map_err(|error| {
                Error::new(
                    ErrorKind::Decode,
                    format!("`{text}` is not a date in RFC 3339 form"),
                )
                .with_source(error)
            })
    }
}

impl From<bson::DateTime> for DateTime {
    fn from(date: bson::DateTime) -> Self {
        DateTime(date)
    }
}

impl From<DateTime> for bson::DateTime {
    fn from(date: DateTime) -> Self {
        date.0
    }
}

impl From<DateTime> for bson::Bson {
    fn from(date: DateTime) -> Self {
        bson::Bson::DateTime(date.0)
    }
}

impl From<DateTime> for RawBson {
    fn from(date: DateTime) -> Self {
        RawBson::DateTime(date.0)
    }
}

impl From<SystemTime> for DateTime {
    fn from(time: SystemTime) -> Self {
        DateTime(time.into())
    }
}

impl From<DateTime> for SystemTime {
    fn from(date: DateTime) -> Self {
        date.0.to_system_time()
    }
}

impl Serialize for DateTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            let text = self
                .0
                .try_to_rfc3339_string()
                .map_err(serde::ser::Error::custom)?;
            serializer.serialize_str(&text)
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for DateTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl<'de> de::Visitor<'de> for Visitor {
            type Value = DateTime;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a date in RFC 3339 form")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<DateTime, E> {
                text.parse().map_err(E::custom)
            }

            // What serde buffers of BSON, for a flattened struct or an enum without a tag outside,
            // comes as extended JSON from a deserializer that calls itself human readable.
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<DateTime, A::Error> {
                bson::DateTime::deserialize(de::value::MapAccessDeserializer::new(map))
                    .map(DateTime)
            }
        }

        if deserializer.is_human_readable() {
            deserializer.deserialize_any(Visitor)
        } else {
            bson::DateTime::deserialize(deserializer).map(DateTime)
        }
    }
}
