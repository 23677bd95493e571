//! The arithmetic of expressions.

use bson::{DateTime, RawBson};

use super::{
    evaluate::{is_null, type_of},
    failed,
    operator::Operator,
};
use crate::{
    Error,
    decimal::{Decimal, Dropped, half_to_even},
    error::code,
    number,
};

/// A number of the types of BSON, the wider after the narrower.
#[derive(Debug, Clone, Copy)]
pub(super) enum Num {
    Int(i32),
    Long(i64),
    Double(f64),
    Decimal(Decimal),
}

/// Two numbers in the wider of their types.
enum Pair {
    /// Whole numbers, and whether both are of 32 bits.
    Whole(i64, i64, bool),
    Double(f64, f64),
    Decimal(Decimal, Decimal),
}

impl Num {
    pub(super) fn new(value: &Option<RawBson>) -> Option<Num> {
        Some(match value.as_ref()? {
            RawBson::Int32(value) => Num::Int(*value),
            RawBson::Int64(value) => Num::Long(*value),
            RawBson::Double(value) => Num::Double(*value),
            RawBson::Decimal128(value) => Num::Decimal(Decimal::new(*value)),
            _ => return None,
        })
    }

    pub(super) fn decimal(self) -> Decimal {
        match self {
            Num::Int(value) => Decimal::int(value.into()),
            Num::Long(value) => Decimal::int(value),
            Num::Double(value) => Decimal::double(value),
            Num::Decimal(value) => value,
        }
    }

    /// The number as a double, or `None` for a decimal.
    pub(super) fn double(self) -> Option<f64> {
        match self {
            Num::Int(value) => Some(value.into()),
            Num::Long(value) => Some(value as f64),
            Num::Double(value) => Some(value),
            Num::Decimal(_) => None,
        }
    }

    pub(super) fn whole(self) -> Option<(i64, bool)> {
        match self {
            Num::Int(value) => Some((value.into(), true)),
            Num::Long(value) => Some((value, false)),
            _ => None,
        }
    }

    fn with(self, other: Num) -> Pair {
        if let (Some((a, a_is_int)), Some((b, b_is_int))) = (self.whole(), other.whole()) {
            return Pair::Whole(a, b, a_is_int && b_is_int);
        }
        match (self.double(), other.double()) {
            (Some(a), Some(b)) => Pair::Double(a, b),
            _ => Pair::Decimal(self.decimal(), other.decimal()),
        }
    }

    pub(super) fn into_raw(self) -> RawBson {
        match self {
            Num::Int(value) => RawBson::Int32(value),
            Num::Long(value) => RawBson::Int64(value),
            Num::Double(value) => RawBson::Double(value),
            Num::Decimal(value) => RawBson::Decimal128(value.pack()),
        }
    }
}

/// A whole result: of 32 bits if the operands are and it fits.
pub(super) fn narrow(value: i64, is_int: bool) -> Num {
    match i32::try_from(value) {
        Ok(value) if is_int => Num::Int(value),
        _ => Num::Long(value),
    }
}

fn add(a: Num, b: Num) -> Num {
    match a.with(b) {
        Pair::Whole(a, b, is_int) => match a.checked_add(b) {
            Some(sum) => narrow(sum, is_int),
            None => Num::Double(a as f64 + b as f64),
        },
        Pair::Double(a, b) => Num::Double(a + b),
        Pair::Decimal(a, b) => Num::Decimal(a.plus(b)),
    }
}

fn subtract(a: Num, b: Num) -> Num {
    match a.with(b) {
        Pair::Whole(a, b, is_int) => match a.checked_sub(b) {
            Some(difference) => narrow(difference, is_int),
            None => Num::Double(a as f64 - b as f64),
        },
        Pair::Double(a, b) => Num::Double(a - b),
        Pair::Decimal(a, b) => Num::Decimal(a.plus(b.negated())),
    }
}

fn multiply(a: Num, b: Num) -> Num {
    match a.with(b) {
        Pair::Whole(a, b, is_int) => match a.checked_mul(b) {
            Some(product) => narrow(product, is_int),
            None => Num::Double(a as f64 * b as f64),
        },
        Pair::Double(a, b) => Num::Double(a * b),
        Pair::Decimal(a, b) => Num::Decimal(a.times(b)),
    }
}

/// Calculates with evaluated operands, as many as the operator takes.
pub(super) fn calculate(
    operator: Operator,
    values: &[Option<RawBson>],
) -> Result<Option<RawBson>, Error> {
    let is_date = |value: &&Option<RawBson>| matches!(value, Some(RawBson::DateTime(_)));
    match (operator, values) {
        (Operator::Add, values) if values.iter().any(|value| is_date(&value)) => {
            add_to_date(values)
        }
        (Operator::Subtract, [Some(RawBson::DateTime(date)), other]) if !is_null(other) => {
            subtract_from_date(*date, other)
        }
        (Operator::Add, values) => fold(operator, values, Num::Int(0), add),
        (Operator::Multiply, values) => fold(operator, values, Num::Int(1), multiply),
        (_, values) if values.iter().any(is_null) => Ok(Some(RawBson::Null)),
        (operator, values) => {
            let mut numbers = Vec::with_capacity(values.len());
            for (at, value) in values.iter().enumerate() {
                numbers.push(Num::new(value).ok_or_else(|| no_number(operator, at, value))?);
            }
            let result = match (operator, numbers.as_slice()) {
                (Operator::Subtract, [a, b]) => subtract(*a, *b),
                (Operator::Divide, [a, b]) => divide(*a, *b)?,
                (Operator::Mod, [a, b]) => modulo(*a, *b)?,
                (Operator::Abs, [number]) => abs(*number)?,
                (Operator::Ceil, [Num::Decimal(value)]) => Num::Decimal(value.quantized(0, up)),
                (Operator::Floor, [Num::Decimal(value)]) => Num::Decimal(value.quantized(0, down)),
                (Operator::Ceil, [number]) => cut(*number, 0, f64::ceil, up)?,
                (Operator::Floor, [number]) => cut(*number, 0, f64::floor, down)?,
                (Operator::Round, [number, place @ ..]) => {
                    let place = self::place(operator, values.get(1), place)?;
                    cut(*number, place, f64::round_ties_even, half_to_even)?
                }
                (Operator::Trunc, [number, place @ ..]) => {
                    let place = self::place(operator, values.get(1), place)?;
                    cut(*number, place, f64::trunc, |_, _, _| false)?
                }
                // No other operator calculates.
                _ => return Ok(None),
            };
            Ok(Some(result.into_raw()))
        }
    }
}

/// The error of an operand, which is the first operand if `at` is 0.
fn no_number(operator: Operator, at: usize, value: &Option<RawBson>) -> Error {
    let code = match operator {
        Operator::Round | Operator::Trunc if at > 0 => 16_004,
        Operator::Mod => 16_611,
        Operator::Abs | Operator::Ceil | Operator::Floor => 28_765,
        Operator::Round | Operator::Trunc => 51_081,
        _ => code::TYPE_MISMATCH,
    };
    let reason = format!("it needs numbers, not {}", type_of(value));
    failed(operator, reason, code)
}

fn fold(
    operator: Operator,
    values: &[Option<RawBson>],
    start: Num,
    step: fn(Num, Num) -> Num,
) -> Result<Option<RawBson>, Error> {
    let mut result = start;
    for value in values {
        if is_null(value) {
            return Ok(Some(RawBson::Null));
        }
        result = step(
            result,
            Num::new(value).ok_or_else(|| no_number(operator, 0, value))?,
        );
    }
    Ok(Some(result.into_raw()))
}

/// Adds milliseconds to the one date among the operands.
fn add_to_date(values: &[Option<RawBson>]) -> Result<Option<RawBson>, Error> {
    let (mut date, mut millis) = (None, Num::Long(0));
    for value in values {
        match value {
            value if is_null(value) => return Ok(Some(RawBson::Null)),
            Some(RawBson::DateTime(_)) if date.is_some() => {
                return Err(failed(Operator::Add, "it takes one date", 16_612));
            }
            Some(RawBson::DateTime(it)) => date = Some(it.timestamp_millis()),
            value => {
                let number = Num::new(value).ok_or_else(|| no_number(Operator::Add, 0, value))?;
                millis = add(millis, number);
            }
        }
    }
    let sum = whole_millis(millis).and_then(|millis| date?.checked_add(millis));
    let sum =
        sum.ok_or_else(|| failed(Operator::Add, "the date is out of range", code::OVERFLOW))?;
    Ok(Some(RawBson::DateTime(DateTime::from_millis(sum))))
}

fn subtract_from_date(date: DateTime, other: &Option<RawBson>) -> Result<Option<RawBson>, Error> {
    let range = || {
        failed(
            Operator::Subtract,
            "the date is out of range",
            code::OVERFLOW,
        )
    };
    let date = date.timestamp_millis();
    if let Some(RawBson::DateTime(other)) = other {
        let difference = date.checked_sub(other.timestamp_millis());
        return Ok(Some(RawBson::Int64(difference.ok_or_else(range)?)));
    }
    let number = Num::new(other).ok_or_else(|| no_number(Operator::Subtract, 1, other))?;
    let difference = whole_millis(number).and_then(|millis| date.checked_sub(millis));
    Ok(Some(RawBson::DateTime(DateTime::from_millis(
        difference.ok_or_else(range)?,
    ))))
}

/// A number of milliseconds, rounded.
fn whole_millis(number: Num) -> Option<i64> {
    let rounded = cut(number, 0, f64::round, half_to_even).ok()?;
    number::truncated(rounded.into_raw().as_raw_bson_ref())
}

fn divide(a: Num, b: Num) -> Result<Num, Error> {
    let zero = || failed(Operator::Divide, "the divisor is zero", code::BAD_VALUE);
    match (a.double(), b.double()) {
        (Some(_), Some(0.0)) => Err(zero()),
        (Some(a), Some(b)) => Ok(Num::Double(a / b)),
        _ if b.decimal().is_zero() => Err(zero()),
        _ => Ok(Num::Decimal(a.decimal().over(b.decimal()))),
    }
}

fn modulo(a: Num, b: Num) -> Result<Num, Error> {
    let zero = || failed(Operator::Mod, "the divisor is zero", 16_610);
    match a.with(b) {
        Pair::Whole(_, 0, _) | Pair::Double(_, 0.0) => Err(zero()),
        Pair::Whole(a, b, is_int) => Ok(narrow(a.checked_rem(b).unwrap_or(0), is_int)),
        Pair::Double(a, b) => Ok(Num::Double(a % b)),
        Pair::Decimal(_, b) if b.is_zero() => {
            Err(failed(Operator::Mod, "the divisor is zero", 5_733_415))
        }
        Pair::Decimal(a, b) => Ok(Num::Decimal(a.modulo(b))),
    }
}

fn abs(number: Num) -> Result<Num, Error> {
    Ok(match number {
        Num::Int(value) => narrow(i64::from(value).abs(), true),
        Num::Long(value) => {
            let reason = "the least number of 64 bits has no opposite";
            Num::Long(
                value
                    .checked_abs()
                    .ok_or_else(|| failed(Operator::Abs, reason, 28_680))?,
            )
        }
        Num::Double(value) => Num::Double(value.abs()),
        Num::Decimal(value) => Num::Decimal(value.abs()),
    })
}

fn up(dropped: Dropped, negative: bool, _: bool) -> bool {
    dropped != Dropped::Nothing && !negative
}

fn down(dropped: Dropped, negative: bool, _: bool) -> bool {
    dropped != Dropped::Nothing && negative
}

/// The number of decimal places, the second operand.
fn place(operator: Operator, value: Option<&Option<RawBson>>, given: &[Num]) -> Result<i32, Error> {
    let (Some(Some(value)), [_]) = (value, given) else {
        return Ok(0);
    };
    match number::whole(value.as_raw_bson_ref()) {
        Some(place @ -20..=100) => Ok(place as i32),
        Some(_) => Err(failed(
            operator,
            "the place is not within -20 and 100",
            51_083,
        )),
        None => {
            let is_finite = !matches!(value, RawBson::Double(double) if !double.is_finite());
            let code = if is_finite { 51_082 } else { 31_109 };
            Err(failed(operator, "the place is no whole number", code))
        }
    }
}

/// A number with no digits after a decimal place.
fn cut(
    number: Num,
    place: i32,
    real: fn(f64) -> f64,
    grows: fn(Dropped, bool, bool) -> bool,
) -> Result<Num, Error> {
    Ok(match number {
        Num::Double(value) if place == 0 => Num::Double(real(value)),
        Num::Double(value) if !value.is_finite() => number,
        Num::Double(value) => {
            let text = Decimal::wide_double(value)
                .cut(-place, grows)
                .pack()
                .to_string();
            Num::Double(text.parse().unwrap_or(value))
        }
        Num::Decimal(value) => match value.quantized(-place, grows) {
            // It has no room for the digits.
            Decimal::NaN => Num::Decimal(value),
            rounded => Num::Decimal(rounded),
        },
        whole if place >= 0 => whole,
        whole => {
            let is_int = matches!(whole, Num::Int(_));
            let cut = whole.decimal().cut(-place, grows).truncated();
            let range = || failed(Operator::Round, "the result is out of range", 51_080);
            narrow(cut.ok_or_else(range)?, is_int)
        }
    })
}
