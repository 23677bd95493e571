//! The arithmetic of updates.

use bson::{RawBson, RawBsonRef};

use super::BitOperation;
use crate::{Error, decimal::Decimal, error::code, types};

/// How numbers of each type are combined.
struct Arithmetic {
    operator: &'static str,
    whole: fn(i64, i64) -> Option<i64>,
    double: fn(f64, f64) -> f64,
    decimal: fn(Decimal, Decimal) -> Decimal,
}

const INC: Arithmetic = Arithmetic {
    operator: "$inc",
    whole: i64::checked_add,
    double: |a, b| a + b,
    decimal: Decimal::plus,
};

const MUL: Arithmetic = Arithmetic {
    operator: "$mul",
    whole: i64::checked_mul,
    double: |a, b| a * b,
    decimal: Decimal::times,
};

pub(super) fn inc(path: &str, value: RawBsonRef<'_>, amount: &RawBson) -> Result<RawBson, Error> {
    INC.combine(path, value, amount.as_raw_bson_ref())
}

pub(super) fn mul(path: &str, value: RawBsonRef<'_>, factor: &RawBson) -> Result<RawBson, Error> {
    MUL.combine(path, value, factor.as_raw_bson_ref())
}

/// The product of a factor and of a missing value, which counts as zero.
pub(super) fn zero(factor: &RawBson) -> RawBson {
    match factor {
        RawBson::Int64(_) => RawBson::Int64(0),
        // The product keeps the sign of the factor, and NaN.
        RawBson::Double(factor) => RawBson::Double(factor * 0.0),
        RawBson::Decimal128(factor) => {
            RawBson::Decimal128(Decimal::new(*factor).times(Decimal::int(0)).pack())
        }
        _ => RawBson::Int32(0),
    }
}

impl Arithmetic {
    fn combine(
        &self,
        path: &str,
        value: RawBsonRef<'_>,
        operand: RawBsonRef<'_>,
    ) -> Result<RawBson, Error> {
        if let (Some(a), Some(b)) = (whole(value), whole(operand)) {
            let result = (self.whole)(a, b).ok_or_else(|| Error::Overflow {
                operator: self.operator,
                path: path.to_owned(),
            })?;
            return Ok(match (value, operand, i32::try_from(result)) {
                // The result is an int32 if both operands are, and it fits.
                (RawBsonRef::Int32(_), RawBsonRef::Int32(_), Ok(result)) => RawBson::Int32(result),
                _ => RawBson::Int64(result),
            });
        }
        if let (Some(a), Some(b)) = (double(value), double(operand)) {
            return Ok(RawBson::Double((self.double)(a, b)));
        }
        let wrong = |value: RawBsonRef<'_>| Error::WrongType {
            operator: self.operator,
            path: path.to_owned(),
            expected: "a number",
            found: types::name(value.element_type()),
            code: code::TYPE_MISMATCH,
        };
        let a = decimal(value).ok_or_else(|| wrong(value))?;
        let b = decimal(operand).ok_or_else(|| bad_number(self.operator))?;
        Ok(RawBson::Decimal128((self.decimal)(a, b).pack()))
    }
}

fn whole(value: RawBsonRef<'_>) -> Option<i64> {
    match value {
        RawBsonRef::Int32(value) => Some(value.into()),
        RawBsonRef::Int64(value) => Some(value),
        _ => None,
    }
}

fn double(value: RawBsonRef<'_>) -> Option<f64> {
    match value {
        RawBsonRef::Double(value) => Some(value),
        other => whole(other).map(|value| value as f64),
    }
}

fn decimal(value: RawBsonRef<'_>) -> Option<Decimal> {
    match value {
        RawBsonRef::Decimal128(value) => Some(Decimal::new(value)),
        RawBsonRef::Double(value) => Some(Decimal::double(value)),
        other => whole(other).map(Decimal::int),
    }
}

/// The error of an operand of `$inc` or `$mul` that is not a number.
pub(super) fn bad_number(operator: &str) -> Error {
    types::bad_as(code::TYPE_MISMATCH, operator, "a number")
}

/// Combines bits. The result has 64 bits if one of the numbers has.
pub(super) fn bit(
    path: &str,
    value: RawBsonRef<'_>,
    operands: &[(BitOperation, RawBson)],
) -> Result<RawBson, Error> {
    let Some(mut bits) = whole(value) else {
        return Err(Error::WrongType {
            operator: "$bit",
            path: path.to_owned(),
            expected: "a whole number",
            found: types::name(value.element_type()),
            code: code::BAD_VALUE,
        });
    };
    let mut is_long = matches!(value, RawBsonRef::Int64(_));
    for (operation, operand) in operands {
        let operand = operand.as_raw_bson_ref();
        let number = whole(operand).ok_or_else(bad_bits)?;
        is_long |= matches!(operand, RawBsonRef::Int64(_));
        bits = match operation {
            BitOperation::And => bits & number,
            BitOperation::Or => bits | number,
            BitOperation::Xor => bits ^ number,
        };
    }
    // Numbers of 32 bits are combined to one.
    Ok(match i32::try_from(bits) {
        Ok(bits) if !is_long => RawBson::Int32(bits),
        _ => RawBson::Int64(bits),
    })
}

/// The error of the operand of `$bit`.
pub(super) fn bad_bits() -> Error {
    types::bad(
        "$bit",
        "a document of `and`, `or` or `xor` and whole numbers",
    )
}
