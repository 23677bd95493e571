//! The rules of places, by the database of IANA.

use jiff::{
    Timestamp,
    civil::DateTime,
    tz::{Offset, TimeZone, TimeZoneDatabase},
};

/// The time zone of a place.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::expr::dates) struct Place(TimeZone);

/// Why a zone is not found.
pub(super) const MISSING: &str = "";

impl Place {
    /// The place of a name, in the spelling of the database.
    pub(super) fn named(name: &str) -> Option<Place> {
        let found = TimeZoneDatabase::bundled().get(name).ok()?;
        (found.iana_name() == Some(name)).then_some(Place(found))
    }

    /// The seconds that the local clock is ahead of UTC at a time in milliseconds.
    pub(super) fn offset_at(&self, millis: i64) -> i64 {
        let time = Timestamp::from_millisecond(millis).unwrap_or(if millis < 0 {
            Timestamp::MIN
        } else {
            Timestamp::MAX
        });
        self.0.to_offset(time).seconds().into()
    }

    /// The milliseconds at which the local clock shows these milliseconds. `None` in years that the rules are not for.
    pub(super) fn time_of(&self, local: i64) -> Option<i64> {
        let as_utc = Timestamp::from_millisecond(local).ok()?;
        let clock: DateTime = Offset::UTC.to_datetime(as_utc);
        let time = self.0.to_ambiguous_timestamp(clock).compatible().ok()?;
        Some(time.as_millisecond())
    }
}
