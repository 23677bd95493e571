//! Numbers and dates as texts.

use std::ops::RangeInclusive;

use bson::DateTime;

/// The shortest text that is this double, as C++ writes it: `1e+16` from 16 digits on, and `1e-05` after four zeros.
pub(super) fn double_text(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_infinite() {
        return format!("{sign}Infinity");
    }
    let shortest = format!("{:e}", value.abs());
    let (digits, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    match exponent.parse::<i32>().unwrap_or(0) {
        -4..16 => value.to_string(),
        exponent => {
            let exponent_sign = if exponent < 0 { '-' } else { '+' };
            format!(
                "{sign}{digits}e{exponent_sign}{:02}",
                exponent.unsigned_abs()
            )
        }
    }
}

/// The double of a text. It is `None` if the text is no number in decimal digits, or a number so large or so small that a double has not all
/// its digits.
pub(super) fn double(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    let digits = text.split(['e', 'E']).next().unwrap_or_default();
    let has = |first| digits.bytes().any(|byte| (first..=b'9').contains(&byte));
    let is_out_of_range = match value {
        value if value.is_infinite() => has(b'0'),
        0.0 => has(b'1'),
        value => value.is_subnormal(),
    };
    (!is_out_of_range).then_some(value)
}

/// The dates whose years have four digits, from 0000 to 9999.
const FOUR_DIGITS: RangeInclusive<i64> = -62_167_219_200_000..=253_402_300_799_999;

/// The text of a date whose year has four digits.
pub(super) fn date_text(date: DateTime) -> Option<String> {
    let millis = Some(date.timestamp_millis()).filter(|millis| FOUR_DIGITS.contains(millis))?;
    let below = millis.rem_euclid(1_000);
    let seconds = DateTime::from_millis(millis.saturating_sub(below));
    let seconds = seconds.try_to_rfc3339_string().ok()?;
    Some(format!("{}.{below:03}Z", seconds.strip_suffix('Z')?))
}

/// The date of a text of ISO 8601: `2018-03-27`, or `2018-03-27T16:58:51.538Z`. A space may take the place of the `T`, and be before the
/// zone; seconds, their fraction and the zone may be absent.
pub(super) fn date(text: &str) -> Option<DateTime> {
    let text = text.trim_ascii();
    let (day, rest) = text.split_at_checked("YYYY-MM-DD".len())?;
    let (clock, zone) = match rest.as_bytes().first() {
        None => ("00:00", ""),
        Some(b'T' | b't') => clock(&rest[1..]),
        Some(b' ' | b'\t') => clock(rest.trim_ascii_start()),
        Some(_) => return None,
    };
    let (clock, fraction) = match clock.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (clock, None),
    };
    let clock = match (clock.len(), fraction) {
        (5, None) => format!("{clock}:00"),
        (8, _) if !clock.ends_with(":60") => clock.to_owned(),
        _ => return None,
    };
    let seconds = DateTime::parse_rfc3339_str(format!("{day}T{clock}Z")).ok()?;
    let seconds = i128::from(seconds.timestamp_millis()) / 1_000 - i128::from(offset(zone)?);
    // The part of a millisecond is cut towards 1970.
    let micros = seconds * 1_000_000 + fraction.map_or(Some(0), micros)?;
    Some(DateTime::from_millis(i64::try_from(micros / 1_000).ok()?))
}

/// The same of a text that names no zone, as if its clock were UTC.
pub(super) fn local_date(text: &str) -> Option<DateTime> {
    let rest = text.trim_ascii().get("YYYY-MM-DD".len()..)?;
    let (_, zone) = clock(rest.trim_start_matches(['T', 't', ' ', '\t']));
    if zone.is_empty() { date(text) } else { None }
}

/// Splits a time from the zone after it.
fn clock(text: &str) -> (&str, &str) {
    let is_clock = |char: char| char.is_ascii_digit() || char == ':' || char == '.';
    let (clock, zone) = text.split_at(text.find(|char| !is_clock(char)).unwrap_or(text.len()));
    (clock, zone.trim_ascii_start())
}

/// The microseconds of a fraction of a second.
fn micros(fraction: &str) -> Option<i128> {
    let is_number = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let digits = is_number.then(|| format!("{fraction:0<6}"))?;
    digits[..6].parse().ok()
}

/// The seconds by which a zone is ahead of UTC: `Z`, `UTC`, `GMT`, `+02`, `+0200`, `+02:00` or `GMT+02:00`.
fn offset(zone: &str) -> Option<i32> {
    if zone.is_empty()
        || ["Z", "UTC", "GMT"]
            .iter()
            .any(|utc| zone.eq_ignore_ascii_case(utc))
    {
        return Some(0);
    }
    let zone = zone.strip_prefix("GMT").unwrap_or(zone);
    let (sign, zone) = match zone.split_at_checked(1)? {
        ("+", zone) => (1, zone),
        ("-", zone) => (-1, zone),
        _ => return None,
    };
    let (hours, minutes) = zone.split_at_checked(2)?;
    let minutes = match minutes.strip_prefix(':').unwrap_or(minutes) {
        "" if minutes.is_empty() => "00",
        minutes => minutes,
    };
    let number = |digits: &str, most: i32| {
        let is_number = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number: Option<i32> = is_number.then(|| digits.parse().ok())?;
        number.filter(|number| *number <= most)
    };
    Some(sign * (number(hours, 23)? * 3_600 + number(minutes, 59)? * 60))
}
