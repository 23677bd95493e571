//! Time zones: an offset from UTC, or the rules of a place.

#[cfg(feature = "time-zones")]
mod place;
#[cfg(not(feature = "time-zones"))]
mod without;

#[cfg(feature = "time-zones")]
use self::place::{MISSING, Place};
#[cfg(not(feature = "time-zones"))]
use self::without::{MISSING, NoPlace as Place};

/// A time zone.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Zone {
    /// The milliseconds that the local clock is ahead of UTC.
    Fixed(i64),
    Place(Place),
}

const SECONDS: i64 = 1_000;

impl Zone {
    pub(super) const UTC: Zone = Zone::Fixed(0);

    /// Reads `+02`, `+0200`, `+02:00`, or the name of a place in the database of IANA.
    pub(super) fn parse(name: &str) -> Option<Zone> {
        if name == "UTC" || name == "GMT" {
            return Some(Zone::UTC);
        }
        if let Some(offset) = offset(name) {
            return Some(Zone::Fixed(offset));
        }
        Place::named(name).map(Zone::Place)
    }

    /// Why there is no zone of a name.
    pub(super) fn missing(name: &str) -> String {
        format!("there is no time zone `{name}`{}", MISSING)
    }

    /// The milliseconds that the local clock is ahead of UTC at a time.
    pub(super) fn offset_at(&self, millis: i64) -> i64 {
        match self {
            Zone::Fixed(offset) => *offset,
            Zone::Place(place) => place.offset_at(millis).saturating_mul(SECONDS),
        }
    }

    /// The milliseconds on the local clock at a time.
    pub(super) fn local(&self, millis: i64) -> i128 {
        i128::from(millis).saturating_add(self.offset_at(millis).into())
    }

    /// The time at which the local clock shows these milliseconds, or would have if it had not been changed then.
    pub(super) fn time_of(&self, local: i128) -> Option<i64> {
        let offset = match self {
            Zone::Fixed(offset) => *offset,
            Zone::Place(place) => {
                let local = i64::try_from(local).ok()?;
                match place.time_of(local) {
                    Some(time) => return Some(time),
                    None => self.offset_at(local),
                }
            }
        };
        i64::try_from(local.checked_sub(offset.into())?).ok()
    }

    /// The name of the zone at a time, as in `%Z`: the full minutes from UTC.
    pub(super) fn minutes_at(&self, millis: i64) -> i64 {
        self.offset_at(millis) / (60 * SECONDS)
    }
}

fn offset(text: &str) -> Option<i64> {
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_at_checked(2)?;
    let minutes = match minutes.strip_prefix(':') {
        Some(minutes) => minutes,
        None if minutes.is_empty() => "00",
        None => minutes,
    };
    let number = |digits: &str| {
        let is_number = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse::<i64>().ok()).flatten()
    };
    let minutes = number(hours)?
        .checked_mul(60)?
        .checked_add(number(minutes)?)?;
    minutes.checked_mul(sign)?.checked_mul(60 * SECONDS)
}
