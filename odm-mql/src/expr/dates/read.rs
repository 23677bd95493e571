//! `$dateFromString`.

use bson::{DateTime, RawBson};

use super::{
    calendar::{DAY, HOUR, MINUTE, SECOND, days_in, days_of, iso_year_start},
    format::{FormatItem, MONTHS, items},
    zone,
    zone::Zone,
};
use crate::{
    Error,
    error::code,
    expr::{
        convert,
        evaluate::{is_null, type_of},
        failed,
        named::Arguments,
    },
};

/// The date of a text.
pub(super) fn from_string(arguments: Arguments<'_>) -> Result<Option<RawBson>, Error> {
    let name = arguments.name();
    let text = arguments.value(0)?;
    let format = match arguments.value(1)? {
        _ if !arguments.has(1) => Some(None),
        Some(RawBson::String(format)) => Some(Some(parsed(name, &format)?)),
        value if is_null(&value) => None,
        value => {
            let reason = format!("its format is a text, not {}", type_of(&value));
            return Err(failed(name, reason, 40_684));
        }
    };
    let zone = zone(arguments, 2)?;
    if is_null(&text) {
        return if arguments.has(3) {
            arguments.value(3)
        } else {
            Ok(Some(RawBson::Null))
        };
    }
    let (Some(format), Some(zone)) = (format, zone) else {
        return Ok(Some(RawBson::Null));
    };
    let read = match &text {
        Some(RawBson::String(text)) => match format {
            Some(format) => formatted(text, &format, arguments.has(2).then_some(&zone)),
            None => free(text, arguments.has(2).then_some(&zone)),
        },
        _ => None,
    };
    match read {
        Some(millis) => Ok(Some(RawBson::DateTime(DateTime::from_millis(millis)))),
        None if arguments.has(4) => arguments.value(4),
        None => {
            let reason = "the text is no date of its format";
            Err(failed(name, reason, code::CONVERSION_FAILURE))
        }
    }
}

fn parsed(name: &'static str, format: &str) -> Result<Vec<FormatItem>, Error> {
    let invalid = |code| failed(name, "its format has an unknown letter after `%`", code);
    let items = items(format).ok_or_else(|| invalid(18_535))?;
    let is_known = |item: &FormatItem| match item {
        FormatItem::Part(letter) => "YmdHMSLjuVGzZbB".contains(*letter),
        FormatItem::Char(_) => true,
    };
    if items.iter().all(is_known) {
        Ok(items)
    } else {
        Err(invalid(18_536))
    }
}

/// Reads a text of ISO 8601. It is in the given zone, unless it has one.
fn free(text: &str, zone: Option<&Zone>) -> Option<i64> {
    let Some(zone) = zone else {
        return convert::date_of_text(text);
    };
    let local = convert::local_date_of_text(text)?;
    zone.time_of(local.into())
}

/// The parts that a text has.
#[derive(Debug, Default)]
struct ReadParts {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    iso_year: Option<i64>,
    iso_week: Option<i64>,
    iso_day: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    millisecond: i64,
    /// The milliseconds that its clock is ahead of UTC.
    offset: Option<i64>,
}

fn formatted(text: &str, format: &[FormatItem], zone: Option<&Zone>) -> Option<i64> {
    let (mut rest, mut parts) = (text, ReadParts::default());
    for item in format {
        rest = match item {
            FormatItem::Char(char) => rest.strip_prefix(*char)?,
            FormatItem::Part(letter) => part(&mut parts, *letter, rest)?,
        };
    }
    if !rest.is_empty() || zone.is_some() && parts.offset.is_some() {
        return None;
    }
    let units = [
        (parts.days()?, DAY),
        (parts.hour, HOUR),
        (parts.minute, MINUTE),
        (parts.second, SECOND),
        (parts.millisecond, 1),
    ];
    let clock = units.into_iter().fold(0_i64, |sum, (number, unit)| {
        sum.saturating_add(number.saturating_mul(unit))
    });
    match (parts.offset, zone) {
        (Some(offset), _) => clock.checked_sub(offset),
        (None, Some(zone)) => zone.time_of(clock.into()),
        (None, None) => Some(clock),
    }
}

impl ReadParts {
    fn days(&self) -> Option<i64> {
        if let Some(year) = self.iso_year {
            let weeks = self
                .iso_week
                .unwrap_or(1)
                .saturating_sub(1)
                .saturating_mul(7);
            if self.iso_week.is_none() && self.iso_day.is_none() {
                return Some(days_of(year, 1, 1));
            }
            let days = weeks
                .saturating_add(self.iso_day.unwrap_or(1))
                .saturating_sub(1);
            return iso_year_start(year).checked_add(days);
        }
        let year = self.year?;
        if let Some(day) = self.day_of_year {
            // MongoDB's parser counts from 0 on, unlike `$dateToString`.
            return days_of(year, 1, 1).checked_add(day);
        }
        let (month, day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
        (day <= days_in(year, month)).then(|| days_of(year, month, day))
    }
}

/// Reads a part of the text, and returns the rest.
fn part<'t>(parts: &mut ReadParts, letter: char, text: &'t str) -> Option<&'t str> {
    let within = |most: usize, range: (i64, i64)| {
        let digits = text.bytes().take(most).take_while(u8::is_ascii_digit);
        let (digits, rest) = text.split_at_checked(digits.count())?;
        let number = digits.parse::<i64>().ok()?;
        (range.0..=range.1)
            .contains(&number)
            .then_some((number, rest))
    };
    let (target, (number, rest)) = match letter {
        'Y' => (&mut parts.year, within(4, (0, 9_999))?),
        'G' => (&mut parts.iso_year, within(4, (0, 9_999))?),
        'm' => (&mut parts.month, within(2, (1, 12))?),
        'd' => (&mut parts.day, within(2, (1, 31))?),
        'j' => (&mut parts.day_of_year, within(3, (0, 366))?),
        'V' => (&mut parts.iso_week, within(2, (1, 53))?),
        'u' => (&mut parts.iso_day, within(1, (1, 7))?),
        'b' | 'B' => (&mut parts.month, month(text, letter == 'b')?),
        'z' => (&mut parts.offset, offset(text)?),
        'Z' => (&mut parts.offset, minutes(text)?),
        _ => {
            let (target, (number, rest)) = match letter {
                'H' => (&mut parts.hour, within(2, (0, 24))?),
                'M' => (&mut parts.minute, within(2, (0, 59))?),
                'S' => (&mut parts.second, within(2, (0, 59))?),
                _ => (&mut parts.millisecond, within(3, (0, 999))?),
            };
            *target = number;
            return Some(rest);
        }
    };
    *target = Some(number);
    Some(rest)
}

fn month(text: &str, is_short: bool) -> Option<(i64, &str)> {
    (1..).zip(MONTHS).find_map(|(number, name)| {
        let name = if is_short { name.get(..3)? } else { name };
        let (begin, rest) = text.split_at_checked(name.len())?;
        begin.eq_ignore_ascii_case(name).then_some((number, rest))
    })
}

/// An offset from UTC, such as `+0200`, `+02:00` or `Z`, or the name of a zone that has one offset.
fn offset(text: &str) -> Option<(i64, &str)> {
    let end = text.find(|char: char| !(char.is_ascii_alphanumeric() || "+-:/_".contains(char)));
    let (name, rest) = text.split_at(end.unwrap_or(text.len()));
    if name.eq_ignore_ascii_case("z") {
        return Some((0, rest));
    }
    match Zone::parse(name)? {
        Zone::Fixed(offset) => Some((offset, rest)),
        zone @ Zone::Place(_) => Some((zone.offset_at(0), rest)),
    }
}

/// A number of minutes with its sign.
fn minutes(text: &str) -> Option<(i64, &str)> {
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => (1, text),
    };
    let len = digits
        .bytes()
        .take(4)
        .take_while(u8::is_ascii_digit)
        .count();
    let (digits, rest) = digits.split_at_checked(len)?;
    let minutes = digits.parse::<i64>().ok()?;
    Some((minutes.checked_mul(sign)?.checked_mul(MINUTE)?, rest))
}
