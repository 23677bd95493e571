//! The operators of expressions on texts.

use bson::{DateTime, RawBson, Timestamp};

use super::{
    ExprNode, arrays, convert,
    evaluate::{is_null, node, type_of},
    failed,
    operator::Operator,
    scope::Scope,
    search,
};
use crate::{Error, types};

/// All texts, one after another, or null at the first null.
pub(super) fn concat(operands: &[ExprNode], scope: Scope<'_>) -> Result<Option<RawBson>, Error> {
    let (mut all, held) = (String::new(), scope.work.hold());
    for operand in operands {
        match node(operand, scope)? {
            Some(RawBson::String(text)) => all.push_str(&text),
            value if is_null(&value) => return Ok(Some(RawBson::Null)),
            value => {
                let reason = format!("it needs texts, not {}", type_of(&value));
                return Err(failed(Operator::Concat, reason, 16_702));
            }
        }
        check_len(all.len())?;
        held.set(all.len())?;
    }
    Ok(Some(RawBson::String(all)))
}

/// Checks the number of bytes of a text in a request or of a computed one.
pub(super) fn check_len(bytes: usize) -> Result<(), Error> {
    const MOST: usize = 16 << 20;
    if bytes < MOST {
        return Ok(());
    }
    Err(Error::Expression {
        operator: "$literal",
        reason: format!("a text has {MOST} bytes or more").into(),
        code: 16_493,
    })
}

/// The value of an operator on a text.
pub(super) fn operator(
    operator: Operator,
    values: &[Option<RawBson>],
) -> Result<Option<RawBson>, Error> {
    Ok(Some(match (operator, values) {
        (Operator::ToLower, [value]) => {
            RawBson::String(text_of(operator, value)?.to_ascii_lowercase())
        }
        (Operator::ToUpper, [value]) => {
            RawBson::String(text_of(operator, value)?.to_ascii_uppercase())
        }
        (Operator::StrLenCp, [Some(RawBson::String(text))]) => {
            let len = text.chars().count();
            RawBson::Int32(i32::try_from(len).unwrap_or(i32::MAX))
        }
        (Operator::StrLenCp, [value]) => {
            let reason = format!("it needs a text, not {}", type_of(value));
            return Err(failed(operator, reason, 34_471));
        }
        (Operator::SubstrCp, [value, start, count]) => {
            let text = text_of(operator, value)?;
            let start = arrays::int(operator, start, 34_450, 34_451)?;
            let count = arrays::int(operator, count, 34_452, 34_453)?;
            let amount = |number: i64, code| {
                let amount = usize::try_from(number);
                amount.map_err(|_| failed(operator, "it needs numbers from 0 on", code))
            };
            let count = amount(count, 34_454)?;
            let rest = text.chars().skip(amount(start, 34_455)?);
            RawBson::String(rest.take(count).collect())
        }
        (operator, values) => return search::operator(operator, values),
    }))
}

/// The text that a value stands for where a text is needed.
pub(super) fn text_of(operator: Operator, value: &Option<RawBson>) -> Result<String, Error> {
    match value {
        value if is_null(value) => Ok(String::new()),
        Some(RawBson::JavaScriptCode(text) | RawBson::Symbol(text)) => Ok(text.clone()),
        Some(RawBson::Double(value)) => Ok(six_digits(*value)),
        Some(RawBson::Timestamp(timestamp)) => Ok(timestamp_text(*timestamp)),
        Some(
            value @ (RawBson::String(_)
            | RawBson::Int32(_)
            | RawBson::Int64(_)
            | RawBson::Decimal128(_)
            | RawBson::DateTime(_)),
        ) => convert::text(operator.name(), value),
        Some(value) => {
            let kind = types::name(value.element_type());
            Err(failed(
                operator,
                format!("it needs a text, not {kind}"),
                16_007,
            ))
        }
        None => Ok(String::new()),
    }
}

/// A double with six digits, as C++ writes it to a stream: `1e+06`, `0.0001`.
fn six_digits(value: f64) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return format!("{sign}inf");
    }
    let scientific = format!("{:.5e}", value.abs());
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let without_zeros = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    match exponent {
        -4..6 => {
            let places = usize::try_from(5 - exponent).unwrap_or(0);
            // The digits are rounded already, so that they stay.
            let rounded: f64 = scientific.parse().unwrap_or(value.abs());
            format!("{sign}{}", without_zeros(&format!("{rounded:.places$}")))
        }
        exponent => {
            let exponent_sign = if exponent < 0 { '-' } else { '+' };
            let digits = without_zeros(digits);
            format!(
                "{sign}{digits}e{exponent_sign}{:02}",
                exponent.unsigned_abs()
            )
        }
    }
}

/// A timestamp as a day of a year, a time in UTC and its increment: `Jan  1 00:00:00:1`.
fn timestamp_text(timestamp: Timestamp) -> String {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let date = DateTime::from_millis(i64::from(timestamp.time).saturating_mul(1_000));
    // It has a year of four digits: `1970-01-01T00:00:00Z`.
    let text = date.try_to_rfc3339_string().unwrap_or_default();
    let number = |from: usize| {
        text.get(from..from + 2)
            .and_then(|digits| digits.parse().ok())
    };
    let month = number(5).and_then(|month: usize| MONTHS.get(month.wrapping_sub(1)));
    let day = number(8).unwrap_or_default();
    let time = text.get(11..19).unwrap_or_default();
    format!(
        "{} {day:>2} {time}:{}",
        month.unwrap_or(&""),
        timestamp.increment
    )
}
