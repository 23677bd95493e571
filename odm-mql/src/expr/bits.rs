//! The operators of expressions on bits.

use bson::RawBson;

use super::{
    evaluate::{is_null, type_of},
    failed,
    operator::Operator,
};
use crate::{Error, error::code};

/// The value of an operator on whole numbers: of 64 bits if one of them has so many.
pub(super) fn operator(
    operator: Operator,
    values: &[Option<RawBson>],
) -> Result<Option<RawBson>, Error> {
    let mut result = if operator == Operator::BitAnd { -1 } else { 0 };
    let mut is_long = false;
    for value in values {
        let bits = match value {
            Some(RawBson::Int32(value)) => i64::from(*value),
            Some(RawBson::Int64(value)) => {
                is_long = true;
                *value
            }
            value if is_null(value) => return Ok(Some(RawBson::Null)),
            value => {
                let reason = format!("it needs whole numbers, not {}", type_of(value));
                let code = match operator {
                    Operator::BitNot => 28_765,
                    _ => code::TYPE_MISMATCH,
                };
                return Err(failed(operator, reason, code));
            }
        };
        result = match operator {
            Operator::BitAnd => result & bits,
            Operator::BitOr => result | bits,
            Operator::BitXor => result ^ bits,
            _ => !bits,
        };
    }
    Ok(Some(match i32::try_from(result) {
        Ok(int) if !is_long => RawBson::Int32(int),
        _ => RawBson::Int64(result),
    }))
}
