//! `$dateToString`.

use std::fmt::{Error as FormatError, Write};

use bson::RawBson;

use super::{calendar::LocalTime, millis, zone, zone::Zone};
use crate::{
    Error,
    expr::{
        evaluate::{is_null, type_of},
        failed,
        named::Arguments,
    },
};

/// The names of the months.
pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A date in the form of ISO 8601, before the zone.
const DEFAULT: &str = "%Y-%m-%dT%H:%M:%S.%L";

/// Part of a format.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum FormatItem {
    Char(char),
    /// A letter after `%`.
    Part(char),
}

/// The items of a format, or `None` if it ends with a single `%`.
pub(super) fn items(format: &str) -> Option<Vec<FormatItem>> {
    let (mut items, mut chars) = (Vec::new(), format.chars());
    while let Some(char) = chars.next() {
        items.push(match char {
            '%' => match chars.next()? {
                '%' => FormatItem::Char('%'),
                letter => FormatItem::Part(letter),
            },
            char => FormatItem::Char(char),
        });
    }
    Some(items)
}

/// The text of a date.
pub(super) fn to_string(arguments: Arguments<'_>) -> Result<Option<RawBson>, Error> {
    let name = arguments.name();
    let format = match arguments.value(1)? {
        _ if !arguments.has(1) => Some(None),
        Some(RawBson::String(format)) => {
            let invalid = || failed(name, "its format has an unknown letter after `%`", 18_536);
            let items = items(&format).ok_or_else(invalid)?;
            let is_known = |item: &FormatItem| match item {
                FormatItem::Part(letter) => "YmdHMSLjwUuVGzZbB".contains(*letter),
                FormatItem::Char(_) => true,
            };
            if !items.iter().all(is_known) {
                return Err(invalid());
            }
            Some(Some(items))
        }
        value if is_null(&value) => None,
        value => {
            let reason = format!("its format is a text, not {}", type_of(&value));
            return Err(failed(name, reason, 18_533));
        }
    };
    let date = arguments.value(0)?;
    let zone = zone(arguments, 2)?;
    if is_null(&date) {
        return if arguments.has(3) {
            arguments.value(3)
        } else {
            Ok(Some(RawBson::Null))
        };
    }
    let (Some(format), Some(zone)) = (format, zone) else {
        return Ok(Some(RawBson::Null));
    };
    let millis = millis(arguments, &date, 16_006)?;
    let moment = LocalTime::of(millis, &zone);
    if !(0..=9_999).contains(&moment.year) {
        return Err(failed(name, "its year must have four digits", 18_537));
    }
    let format = format.unwrap_or_else(|| {
        let mut items = items(DEFAULT).unwrap_or_default();
        if zone == Zone::UTC {
            items.push(FormatItem::Char('Z'));
        }
        items
    });
    let mut text = String::new();
    // A text takes everything.
    let written = write(&mut text, &format, &moment, zone.minutes_at(millis));
    Ok(written.ok().map(|()| RawBson::String(text)))
}

fn write(
    text: &mut String,
    format: &[FormatItem],
    moment: &LocalTime,
    offset: i64,
) -> Result<(), FormatError> {
    for item in format {
        let letter = match item {
            FormatItem::Char(char) => {
                text.push(*char);
                continue;
            }
            FormatItem::Part(letter) => *letter,
        };
        let month = usize::try_from(moment.month.saturating_sub(1)).unwrap_or_default();
        let month = MONTHS.get(month).copied().unwrap_or_default();
        match letter {
            'Y' => write!(text, "{:04}", moment.year)?,
            'm' => write!(text, "{:02}", moment.month)?,
            'd' => write!(text, "{:02}", moment.day)?,
            'H' => write!(text, "{:02}", moment.hour)?,
            'M' => write!(text, "{:02}", moment.minute)?,
            'S' => write!(text, "{:02}", moment.second)?,
            'L' => write!(text, "{:03}", moment.millisecond)?,
            'j' => write!(text, "{:03}", moment.day_of_year)?,
            'w' => write!(text, "{}", moment.weekday.saturating_add(1))?,
            'U' => write!(text, "{:02}", moment.week())?,
            'u' => write!(text, "{}", moment.iso_weekday())?,
            'V' => write!(text, "{:02}", moment.iso_week().1)?,
            'G' => write!(text, "{:04}", moment.iso_week().0)?,
            'z' => {
                let sign = if offset < 0 { '-' } else { '+' };
                let minutes = offset.saturating_abs();
                write!(text, "{sign}{:02}{:02}", minutes / 60, minutes % 60)?;
            }
            'Z' => write!(text, "{offset}")?,
            'b' => text.push_str(month.get(..3).unwrap_or_default()),
            _ => text.push_str(month),
        }
    }
    Ok(())
}
