//! Points in time.

use std::{fmt, str::FromStr, time::SystemTime};

use bson::RawBson;
use odm_store::{Error, ErrorKind};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::read::DATE_TIME;

/// A point in time, to the millisecond, in UTC.
///
/// It is native in BSON, and in JSON and other text formats it is a text in RFC 3339 form, with three digits
/// below the second, as JavaScript writes dates. A year outside of 0 to 9999 has a sign and at least six digits, as in JavaScript, which
/// itself reads years up to ±271821. Every date is read back as it was written. As with [`ObjectId`](super::ObjectId),
/// `bson::serialize_to_bson` writes the text, and `bson::serialize_to_vec` the stored form.
///
/// It is parsed from such a text, with any offset from UTC and any number of digits below the second, truncated to milliseconds, or from a
/// date alone, which is the start of that day.
///
/// ```
/// let date: odm::DateTime = "2014-03-28T09:42:41.382Z".parse().unwrap();
/// assert_eq!(serde_json::to_string(&date).unwrap(), "\"2014-03-28T09:42:41.382Z\"");
/// let far = odm::DateTime::from_millis(253_402_300_800_000);
/// assert_eq!(far.to_string(), "+010000-01-01T00:00:00.000Z");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateTime(bson::DateTime);

impl DateTime {
    /// Now.
    ///
    /// ```
    /// use odm::DateTime;
    ///
    /// let before = DateTime::now();
    /// assert!(DateTime::now() >= before);
    /// ```
    pub fn now() -> Self {
        DateTime(bson::DateTime::now())
    }

    /// The point `millis` milliseconds after the start of 1970 in UTC.
    ///
    /// ```
    /// let date = odm::DateTime::from_millis(1_396_000_000_000);
    /// assert_eq!(date.to_string(), "2014-03-28T09:46:40.000Z");
    /// ```
    pub const fn from_millis(millis: i64) -> Self {
        DateTime(bson::DateTime::from_millis(millis))
    }

    /// Milliseconds since the start of 1970 in UTC.
    ///
    /// ```
    /// use odm::DateTime;
    ///
    /// let start: DateTime = "2026-03-01T10:00:00Z".parse()?;
    /// let end: DateTime = "2026-03-01T10:00:02.500Z".parse()?;
    /// assert_eq!(end.timestamp_millis() - start.timestamp_millis(), 2_500);
    /// # Ok::<_, odm::Error>(())
    /// ```
    pub const fn timestamp_millis(self) -> i64 {
        self.0.timestamp_millis()
    }
}

impl fmt::Debug for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DateTime({self})")
    }
}

/// The years after which the calendar repeats, in milliseconds.
const CYCLE: i128 = 146_097 * 86_400_000;
const CYCLE_YEARS: i64 = 400;

/// The start of the year 2000, and of a cycle.
const CYCLE_START: i128 = 946_684_800_000;

impl fmt::Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The same second of the cycle from 2000 on, whose years RFC 3339 can write.
        let since = i128::from(self.timestamp_millis()) - CYCLE_START;
        let (cycles, within) = (since.div_euclid(CYCLE), since.rem_euclid(CYCLE));
        let fraction = within % 1000;
        let twin = i64::try_from(CYCLE_START + within - fraction).map_err(|_| fmt::Error)?;
        let twin = bson::DateTime::from_millis(twin).try_to_rfc3339_string();
        let twin = twin.map_err(|_| fmt::Error)?;
        let (year, rest) = twin.split_once('-').ok_or(fmt::Error)?;
        let year: i128 = year.parse().map_err(|_| fmt::Error)?;
        let year = year + cycles * i128::from(CYCLE_YEARS);
        match year {
            0..=9999 => write!(f, "{year:04}")?,
            _ => write!(f, "{year:+07}")?,
        }
        write!(f, "-{}.{fraction:03}Z", rest.trim_end_matches('Z'))
    }
}

impl FromStr for DateTime {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        parse(text).ok_or_else(|| {
            Error::new(
                ErrorKind::Decode,
                format!("date expected: `{text}` is none in RFC 3339 form; write it as 2014-03-28T09:42:41.382Z"),
            )
        })
    }
}

#[allow(
    clippy::arithmetic_side_effects,
    reason = "the year is positive, and then below 400"
)]
fn parse(text: &str) -> Option<DateTime> {
    let signed = text.strip_prefix(['+', '-']);
    let (digits, rest) = signed.unwrap_or(text).split_once('-')?;
    let is_long_enough = match signed {
        Some(_) => digits.len() >= 6,
        None => digits.len() == 4,
    };
    let is_year = is_long_enough && digits.bytes().all(|digit| digit.is_ascii_digit());
    let year: i64 = is_year.then(|| digits.parse().ok())??;
    let year = match text.starts_with('-') {
        // There is only one year 0.
        true if year == 0 => return None,
        true => -year,
        false => year,
    };
    let (cycles, year) = (year.div_euclid(CYCLE_YEARS), year.rem_euclid(CYCLE_YEARS));
    // A date alone, as in the guides, is the start of that day.
    let time = if rest.len() == 5 { "T00:00:00Z" } else { "" };
    let twin = format!("{}-{rest}{time}", 2000 + year);
    let twin = bson::DateTime::parse_rfc3339_str(twin).ok()?;
    let millis = i128::from(twin.timestamp_millis()) + (i128::from(cycles) - 5) * CYCLE;
    i64::try_from(millis).ok().map(DateTime::from_millis)
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
            serializer.collect_str(self)
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for DateTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(ReadableVisitor)
        } else {
            deserializer.deserialize_newtype_struct(DATE_TIME, StoredVisitor)
        }
    }
}

struct ReadableVisitor;

impl<'de> de::Visitor<'de> for ReadableVisitor {
    type Value = DateTime;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a date in RFC 3339 form")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<DateTime, E> {
        text.parse().map_err(E::custom)
    }

    // BSON that serde buffers, for a flattened struct or an enum that is not externally tagged, comes as extended JSON from a deserializer
    // that reports itself as human readable.
    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<DateTime, A::Error> {
        bson::DateTime::deserialize(de::value::MapAccessDeserializer::new(map)).map(DateTime)
    }
}

struct StoredVisitor;

impl<'de> de::Visitor<'de> for StoredVisitor {
    type Value = DateTime;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a date")
    }

    /// The milliseconds, from the library's own deserializer, which saves the text that `bson` makes of them.
    fn visit_i64<E: de::Error>(self, millis: i64) -> Result<DateTime, E> {
        Ok(DateTime::from_millis(millis))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<DateTime, D::Error> {
        bson::DateTime::deserialize(deserializer).map(DateTime)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Points in time, and their texts in JavaScript and, beyond its range, in Java.
    const KNOWN: [(i64, &str); 12] = [
        (0, "1970-01-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (1_395_999_761_382, "2014-03-28T09:42:41.382Z"),
        (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        (253_402_300_800_000, "+010000-01-01T00:00:00.000Z"),
        (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
        (-62_167_219_200_001, "-000001-12-31T23:59:59.999Z"),
        (8_640_000_000_000_000, "+275760-09-13T00:00:00.000Z"),
        (-8_640_000_000_000_000, "-271821-04-20T00:00:00.000Z"),
        (i64::MAX, "+292278994-08-17T07:12:55.807Z"),
        (i64::MIN, "-292275055-05-16T16:47:04.192Z"),
    ];

    #[test]
    fn every_year_has_a_text_that_is_read_back() {
        for (millis, text) in KNOWN {
            let date = DateTime::from_millis(millis);
            assert_eq!(date.to_string(), text);
            assert_eq!(text.parse::<DateTime>().unwrap(), date, "{text}");
        }
    }

    #[test]
    fn a_date_is_read_with_any_offset_and_fraction_and_alone() {
        for (text, millis) in [
            ("2014-03-28", 1_395_964_800_000),
            ("+010000-01-01", 253_402_300_800_000),
            ("2014-03-28T09:42:41Z", 1_395_999_761_000),
            ("2014-03-28T09:42:41.3Z", 1_395_999_761_300),
            ("2014-03-28T09:42:41.3829999Z", 1_395_999_761_382),
            ("1969-12-31T23:59:59.9995Z", -1),
            ("+010000-01-01T01:00:00.000+01:00", 253_402_300_800_000),
            ("2014-03-28T11:42:41.382+02:00", 1_395_999_761_382),
        ] {
            assert_eq!(
                text.parse::<DateTime>().ok(),
                Some(DateTime::from_millis(millis)),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "2014",
            "-",
            "2014-3-28",
            "2014-02-30",
            "12014-02-03",
            "+2014-02-03",
            "-000000-01-01",
            "+292278994-08-17T07:12:55.808Z",
            "+99999999999999999999-01-01",
            "2014-03-28T09:42:41",
            "2014-03-28T25:00:00Z",
        ] {
            let error = text.parse::<DateTime>().expect_err(text);
            assert_eq!(error.kind(), ErrorKind::Decode);
        }
    }

    proptest! {
        #[test]
        fn a_date_in_json_is_the_same_and_has_three_digits_below_the_second(
            millis in prop_oneof![any::<i64>(), -300_000_000_000_000..300_000_000_000_000_i64],
        ) {
            let date = DateTime::from_millis(millis);
            let json = serde_json::to_string(&date).unwrap();
            prop_assert_eq!(serde_json::from_str::<DateTime>(&json).unwrap(), date);
            prop_assert_eq!(json.split_once('.').map(|(_, fraction)| fraction.len()), Some(5), "{}", json);
        }
    }
}
