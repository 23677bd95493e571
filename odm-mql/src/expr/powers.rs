//! Powers, roots and logarithms.

use bson::RawBson;

use super::{
    evaluate::{is_null, type_of},
    failed,
    numbers::Num,
    operator::Operator,
    work::Work,
};
use crate::{Error, decimal::Decimal, error::code};

/// The steps of a function of decimals.
const STEPS_OF_DECIMAL: u64 = 512;

/// The value of an operator on numbers.
pub(super) fn operator(
    operator: Operator,
    values: &[Option<RawBson>],
    work: &Work<'_>,
) -> Result<Option<RawBson>, Error> {
    if values.iter().any(is_null) {
        return Ok(Some(RawBson::Null));
    }
    let numbers = values.iter().enumerate().map(|(at, value)| {
        Num::new(value).ok_or_else(|| {
            let code = match (operator, at) {
                (Operator::Log, 0) => 28_756,
                (Operator::Log, _) => 28_757,
                (Operator::Pow, 0) => 28_762,
                (Operator::Pow, _) => 28_763,
                (Operator::Sigmoid, _) => code::TYPE_MISMATCH,
                _ => 28_765,
            };
            failed(
                operator,
                format!("it needs numbers, not {}", type_of(value)),
                code,
            )
        })
    });
    let numbers = numbers.collect::<Result<Vec<_>, _>>()?;
    check(operator, &numbers)?;
    if numbers.iter().any(|number| number.double().is_none()) {
        work.take(STEPS_OF_DECIMAL)?;
        return Ok(of_decimals(operator, &numbers).map(|value| Num::Decimal(value).into_raw()));
    }
    let result = match (operator, numbers.as_slice()) {
        (Operator::Pow, [base, exponent]) => power(*base, *exponent),
        (Operator::Log, [value, base]) => {
            of_doubles(*value, *base, |value, base| value.ln() / base.ln())
        }
        (_, [number]) => of_doubles(*number, *number, |value, _| match operator {
            Operator::Exp => value.exp(),
            Operator::Ln => value.ln(),
            Operator::Log10 => value.log10(),
            Operator::Sqrt => value.sqrt(),
            _ => 1.0 / (1.0 + (-value).exp()),
        }),
        _ => return Ok(None),
    };
    Ok(Some(result.into_raw()))
}

/// Checks that the function has a value there.
fn check(operator: Operator, numbers: &[Num]) -> Result<(), Error> {
    let is_positive = |number: &Num| match number.double() {
        Some(value) => value > 0.0 || value.is_nan(),
        None => {
            let value = number.decimal();
            value == Decimal::NaN || !value.is_zero() && !value.is_negative()
        }
    };
    let is_one = |number: &Num| match number.double() {
        Some(value) => value == 1.0,
        None => number.decimal().plus(Decimal::int(-1)).is_zero(),
    };
    let is_zero = |number: &Num| match number.double() {
        Some(value) => value == 0.0,
        None => number.decimal().is_zero(),
    };
    let is_negative = |number: &Num| match number.double() {
        Some(value) => value < 0.0,
        None => number.decimal().is_negative() && !number.decimal().is_zero(),
    };
    let bad = |reason, code| Err(failed(operator, reason, code));
    match (operator, numbers) {
        (Operator::Ln, [number]) if !is_positive(number) => {
            bad("it needs a positive number", 28_766)
        }
        (Operator::Log10, [number]) if !is_positive(number) => {
            bad("it needs a positive number", 28_761)
        }
        (Operator::Log, [number, _]) if !is_positive(number) => {
            bad("it needs a positive number", 28_758)
        }
        (Operator::Log, [_, base]) if !is_positive(base) || is_one(base) => {
            bad("its base must be positive, and not 1", 28_759)
        }
        (Operator::Sqrt, [number]) if is_negative(number) => {
            bad("it needs a number that is not negative", 28_714)
        }
        (Operator::Pow, [base, exponent]) if is_zero(base) && is_negative(exponent) => {
            bad("0 has no negative power", 28_764)
        }
        _ => Ok(()),
    }
}

/// The value of a function of doubles, or of numbers that are rounded to doubles.
fn of_doubles(a: Num, b: Num, function: impl Fn(f64, f64) -> f64) -> Num {
    let double = |number: Num| number.double().unwrap_or(f64::NAN);
    Num::Double(function(double(a), double(b)))
}

/// The value of an operator on numbers one of which is a decimal.
fn of_decimals(operator: Operator, numbers: &[Num]) -> Option<Decimal> {
    match (operator, numbers) {
        (Operator::Pow, [base, exponent]) => Some(base.decimal().pow(exponent.decimal())),
        // As in MongoDB, both logarithms are rounded.
        (Operator::Log, [value, base]) => Some(value.decimal().ln().over(base.decimal().ln())),
        (_, [number]) => {
            let (value, one) = (number.decimal(), Decimal::int(1));
            Some(match operator {
                Operator::Exp => value.exp(),
                Operator::Ln => value.ln(),
                Operator::Log10 => value.log10(),
                Operator::Sqrt => value.root(),
                _ => one.over(one.plus(value.negated().exp())),
            })
        }
        _ => None,
    }
}

/// A power, which is whole if its base and its exponent are and it fits.
fn power(base: Num, exponent: Num) -> Num {
    let double = of_doubles(base, exponent, f64::powf);
    match (base.whole(), exponent.whole()) {
        (Some((base, base_is_int)), Some((exponent, exponent_is_int))) => {
            let whole = match (base, u32::try_from(exponent)) {
                (_, Ok(exponent)) => base.checked_pow(exponent),
                (1, Err(_)) => Some(1),
                (-1, Err(_)) => Some(if exponent % 2 == 0 { 1 } else { -1 }),
                (0, Err(_)) if exponent > 0 => Some(0),
                _ => None,
            };
            match whole {
                Some(whole) => super::numbers::narrow(whole, base_is_int && exponent_is_int),
                None => double,
            }
        }
        _ => double,
    }
}
