//! Trigonometry.

use std::f64::consts::PI;

use bson::RawBson;

use super::{
    evaluate::{is_null, type_of},
    failed,
    numbers::Num,
    operator::Operator,
};
use crate::{Error, decimal::Decimal, error::code};

/// The value of a function of angles, or of its inverse.
pub(super) fn operator(
    operator: Operator,
    values: &[Option<RawBson>],
) -> Result<Option<RawBson>, Error> {
    if values.iter().any(is_null) {
        return Ok(Some(RawBson::Null));
    }
    // The degrees of a radian, and the radians of a degree, to 34 digits.
    let factor = match operator {
        Operator::DegreesToRadians => Some("0.01745329251994329576923690768488613"),
        Operator::RadiansToDegrees => Some("57.29577951308232087679815481410517"),
        _ => None,
    };
    let mut doubles = Vec::with_capacity(values.len());
    for value in values {
        let number = Num::new(value).ok_or_else(|| {
            let code = if operator == Operator::Atan2 {
                51_044
            } else {
                28_765
            };
            failed(
                operator,
                format!("it needs numbers, not {}", type_of(value)),
                code,
            )
        })?;
        if let (Num::Decimal(value), Some(factor)) = (number, factor.and_then(Decimal::parse)) {
            return Ok(Some(Num::Decimal(value.times(factor)).into_raw()));
        }
        let reason = "it is not supported for decimals: convert them by `$toDouble`";
        let double = number.double();
        doubles.push(double.ok_or_else(|| failed(operator, reason, code::NOT_IMPLEMENTED))?);
    }
    let [value, rest @ ..] = doubles.as_slice() else {
        return Ok(None);
    };
    let (least, most) = match operator {
        Operator::Acos | Operator::Asin | Operator::Atanh => (-1.0, 1.0),
        Operator::Acosh => (1.0, f64::INFINITY),
        Operator::Cos | Operator::Sin | Operator::Tan => (f64::MIN, f64::MAX),
        _ => (f64::NEG_INFINITY, f64::INFINITY),
    };
    if !value.is_nan() && !(least..=most).contains(value) {
        let reason = format!("its operand must be within {least} and {most}");
        return Err(failed(operator, reason, 50_989));
    }
    let result = match operator {
        Operator::Acos => value.acos(),
        Operator::Acosh => value.acosh(),
        Operator::Asin => value.asin(),
        Operator::Asinh => value.asinh(),
        Operator::Atan => value.atan(),
        Operator::Atan2 => value.atan2(rest.first().copied().unwrap_or(f64::NAN)),
        Operator::Atanh => value.atanh(),
        Operator::Cos => value.cos(),
        Operator::Cosh => value.cosh(),
        Operator::Sin => value.sin(),
        Operator::Sinh => value.sinh(),
        Operator::Tan => value.tan(),
        Operator::Tanh => value.tanh(),
        Operator::DegreesToRadians => value * (PI / 180.0),
        _ => value * (180.0 / PI),
    };
    Ok(Some(RawBson::Double(result)))
}
