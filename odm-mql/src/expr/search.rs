//! The operators of expressions that search in texts, cut them, and replace parts of them.

use std::collections::BTreeSet;

use bson::{RawArrayBuf, RawBson};

use super::{
    evaluate::{check_size, is_null, is_number, type_of},
    failed,
    named::{Arguments, NamedOperator},
    operator::Operator,
    texts::{check_len, text_of},
};
use crate::{
    Error,
    decimal::{Decimal, half_to_even},
    number,
};

/// The characters that `$trim` removes by default.
const WHITESPACE: [char; 20] = [
    '\0', '\t', '\n', '\u{b}', '\u{c}', '\r', ' ', '\u{a0}', '\u{1680}', '\u{2000}', '\u{2001}',
    '\u{2002}', '\u{2003}', '\u{2004}', '\u{2005}', '\u{2006}', '\u{2007}', '\u{2008}', '\u{2009}',
    '\u{200a}',
];

/// The most bytes of the characters that `$trim` is told to remove.
const MAX_TRIMMED: usize = 4_096;

/// The value of an operator that searches in a text or cuts it.
pub(super) fn operator(
    operator: Operator,
    values: &[Option<RawBson>],
) -> Result<Option<RawBson>, Error> {
    match (operator, values) {
        (Operator::IndexOfBytes | Operator::IndexOfCp, [text, part, range @ ..]) => {
            index_of(operator, (text, part), range)
        }
        (Operator::Split, [text, separator]) => split(text, separator),
        (Operator::StrLenBytes, [Some(RawBson::String(text))]) => Ok(Some(RawBson::Int32(
            i32::try_from(text.len()).unwrap_or(i32::MAX),
        ))),
        (Operator::StrLenBytes, [value]) => {
            let reason = format!("it needs a text, not {}", type_of(value));
            Err(failed(operator, reason, 34_473))
        }
        (Operator::StrCaseCmp, [a, b]) => {
            let (a, b) = (text_of(operator, a)?, text_of(operator, b)?);
            let order = a.to_ascii_uppercase().cmp(&b.to_ascii_uppercase());
            Ok(Some(RawBson::Int32(order as i32)))
        }
        (_, [text, start, count]) => part_of(operator, text, start, count),
        // No other operator searches.
        _ => Ok(None),
    }
}

/// The place of a part in a text, counted in bytes or in characters, or -1.
fn index_of(
    operator: Operator,
    (text, part): (&Option<RawBson>, &Option<RawBson>),
    range: &[Option<RawBson>],
) -> Result<Option<RawBson>, Error> {
    let (text_code, part_code) = match operator {
        Operator::IndexOfBytes => (40_091, 40_092),
        _ => (40_093, 40_094),
    };
    let wrong = |value, code| {
        failed(
            operator,
            format!("it needs texts, not {}", type_of(value)),
            code,
        )
    };
    let text = match text {
        Some(RawBson::String(text)) => text,
        value if is_null(value) => return Ok(Some(RawBson::Null)),
        value => return Err(wrong(value, text_code)),
    };
    let Some(RawBson::String(part)) = part else {
        return Err(wrong(part, part_code));
    };
    let place = |value: &Option<RawBson>| position(operator, value, (40_096, 40_097));
    let start = range.first().map_or(Ok(0), place)?;
    let end = range.get(1).map_or(Ok(usize::MAX), place)?;
    let found = match operator {
        Operator::IndexOfBytes => find(text, part, start, end),
        _ => find_chars(text, part, start, end),
    };
    let found = found.and_then(|found| i32::try_from(found).ok());
    Ok(Some(RawBson::Int32(found.unwrap_or(-1))))
}

/// The first character at which a part begins within a range, and from where on it may go beyond the end.
fn find_chars(text: &str, part: &str, start: usize, end: usize) -> Option<usize> {
    if text.is_empty() && part.is_empty() && start == 0 {
        return Some(0);
    }
    let (from, _) = text.char_indices().nth(start)?;
    let found = from.saturating_add(text[from..].find(part)?);
    let place = text[from..found].chars().count().saturating_add(start);
    (place < end).then_some(place)
}

/// The first place of a part within a range of bytes, which can begin and end inside of characters.
fn find(text: &str, part: &str, start: usize, end: usize) -> Option<usize> {
    let end = end.min(text.len());
    if part.is_empty() {
        return (start <= end).then_some(start);
    }
    let is_place = |at: &usize| text.is_char_boundary(*at);
    let start = (start..=end).find(is_place)?;
    let end = (start..=end).rev().find(is_place)?;
    let found = text.get(start..end)?.find(part)?;
    start.checked_add(found)
}

/// A position from 0 on, as a whole number of 32 bits. The codes are for another value, and for a negative number.
pub(super) fn position(
    operator: Operator,
    value: &Option<RawBson>,
    (not_whole, negative): (i32, i32),
) -> Result<usize, Error> {
    let whole = value
        .as_ref()
        .and_then(|it| number::whole(it.as_raw_bson_ref()));
    let Some(whole) = whole.and_then(|whole| i32::try_from(whole).ok()) else {
        let reason = format!(
            "a position is a whole number of 32 bits, not {}",
            type_of(value)
        );
        return Err(failed(operator, reason, not_whole));
    };
    usize::try_from(whole).map_err(|_| failed(operator, "a position is not negative", negative))
}

fn split(text: &Option<RawBson>, separator: &Option<RawBson>) -> Result<Option<RawBson>, Error> {
    let operator = Operator::Split;
    if is_null(text) || is_null(separator) {
        return Ok(Some(RawBson::Null));
    }
    let wrong = |value, code| {
        failed(
            operator,
            format!("it needs texts, not {}", type_of(value)),
            code,
        )
    };
    let Some(RawBson::String(text)) = text else {
        return Err(wrong(text, 40_085));
    };
    let Some(RawBson::String(separator)) = separator else {
        return Err(wrong(separator, 10_503_900));
    };
    if separator.is_empty() {
        return Err(failed(operator, "its separator is empty", 40_087));
    }
    let mut parts = RawArrayBuf::new();
    for part in text.split(separator.as_str()) {
        parts.push(part);
        check_size(parts.as_bytes().len())?;
    }
    Ok(Some(RawBson::Array(parts)))
}

/// A part of a text in bytes: up to its end if the count is negative.
fn part_of(
    operator: Operator,
    text: &Option<RawBson>,
    start: &Option<RawBson>,
    count: &Option<RawBson>,
) -> Result<Option<RawBson>, Error> {
    let text = text_of(operator, text)?;
    for (value, code) in [(start, 16_034), (count, 16_035)] {
        if !is_number(value) {
            let reason = format!("it needs numbers, not {}", type_of(value));
            return Err(failed(operator, reason, code));
        }
    }
    let start = usize::try_from(rounded(operator, start)?)
        .map_err(|_| failed(operator, "its start is negative", 50_752))?;
    let count = usize::try_from(rounded(operator, count)?).unwrap_or(text.len());
    let end = start.saturating_add(count);
    let is_inside = |at: usize| at < text.len() && !text.is_char_boundary(at);
    if is_inside(start) {
        return Err(failed(operator, "it begins inside of a character", 28_656));
    }
    if is_inside(end) {
        return Err(failed(operator, "it ends inside of a character", 28_657));
    }
    let part = text.get(start..end.min(text.len())).unwrap_or_default();
    Ok(Some(RawBson::String(part.to_owned())))
}

/// A number of 64 bits: a double is cut, and a decimal is rounded.
fn rounded(operator: Operator, value: &Option<RawBson>) -> Result<i64, Error> {
    let number = match value {
        Some(RawBson::Decimal128(value)) => {
            let rounded = Decimal::new(*value).cut(0, half_to_even).truncated();
            // A decimal out of the range is the least number.
            Some(rounded.unwrap_or(i64::MIN))
        }
        value => value
            .as_ref()
            .and_then(|it| number::truncated(it.as_raw_bson_ref())),
    };
    number.ok_or_else(|| failed(operator, "a number is out of range", 31_109))
}

/// The value of `$trim`, `$ltrim` or `$rtrim`.
pub(super) fn trim(arguments: Arguments<'_>) -> Result<Option<RawBson>, Error> {
    let name = arguments.name();
    let text = |place, code| match arguments.value(place)? {
        Some(RawBson::String(text)) => Ok(Some(text)),
        value if is_null(&value) => Ok(None),
        value => {
            let reason = format!("it needs texts, not {}", type_of(&value));
            Err(failed(name, reason, code))
        }
    };
    let Some(input) = text(0, 50_699)? else {
        return Ok(Some(RawBson::Null));
    };
    let chars = match (arguments.has(1), text(1, 50_700)?) {
        (false, _) => None,
        (true, Some(chars)) if chars.len() > MAX_TRIMMED => {
            let reason = format!("its `chars` have more than {MAX_TRIMMED} bytes");
            return Err(failed(name, reason, 12_066_800));
        }
        (true, Some(chars)) => Some(chars.chars().collect::<BTreeSet<_>>()),
        (true, None) => return Ok(Some(RawBson::Null)),
    };
    let is_removed = |char: char| match &chars {
        Some(chars) => chars.contains(&char),
        None => WHITESPACE.contains(&char),
    };
    let trimmed = match arguments.operator() {
        NamedOperator::Ltrim => input.trim_start_matches(is_removed),
        NamedOperator::Rtrim => input.trim_end_matches(is_removed),
        _ => input.trim_matches(is_removed),
    };
    Ok(Some(RawBson::String(trimmed.to_owned())))
}

/// The value of `$replaceOne` or `$replaceAll`.
pub(super) fn replace(arguments: Arguments<'_>) -> Result<Option<RawBson>, Error> {
    let mut texts = Vec::with_capacity(3);
    for (place, code) in [(0, 10_503_904), (1, 10_503_901), (2, 10_503_902)] {
        texts.push(match arguments.value(place)? {
            Some(RawBson::String(text)) => Some(text),
            value if is_null(&value) => None,
            value => {
                let reason = format!("it needs texts, not {}", type_of(&value));
                return Err(failed(arguments.name(), reason, code));
            }
        });
    }
    let [Some(input), Some(find), Some(replacement)] = texts.as_slice() else {
        return Ok(Some(RawBson::Null));
    };
    let replaced = if arguments.operator() == NamedOperator::ReplaceOne {
        input.replacen(find, replacement, 1)
    } else {
        let places = input.matches(find.as_str()).count();
        check_size(places.saturating_mul(replacement.len()))?;
        input.replace(find, replacement)
    };
    check_len(replaced.len())?;
    Ok(Some(RawBson::String(replaced)))
}
