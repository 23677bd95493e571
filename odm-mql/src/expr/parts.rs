//! The sizes of values, and the parts of timestamps.

use bson::{RawBson, spec::BinarySubtype};

use super::{
    evaluate::{is_null, type_of},
    failed,
    operator::Operator,
};
use crate::Error;

/// The value of such an operator.
pub(super) fn operator(
    operator: Operator,
    values: &[Option<RawBson>],
) -> Result<Option<RawBson>, Error> {
    let value = values.first().unwrap_or(&None);
    let size = |bytes: usize| {
        Ok(Some(RawBson::Int32(
            i32::try_from(bytes).unwrap_or(i32::MAX),
        )))
    };
    match (operator, value) {
        (_, value) if is_null(value) => Ok(Some(RawBson::Null)),
        (Operator::BinarySize, Some(RawBson::String(text))) => size(text.len()),
        (Operator::BinarySize, Some(RawBson::Binary(binary))) => match binary.subtype {
            // The length stands before the data once more.
            BinarySubtype::BinaryOld => size(binary.bytes.len().saturating_add(4)),
            _ => size(binary.bytes.len()),
        },
        (Operator::BsonSize, Some(RawBson::Document(document))) => size(document.as_bytes().len()),
        (Operator::TsSecond, Some(RawBson::Timestamp(timestamp))) => {
            Ok(Some(RawBson::Int64(timestamp.time.into())))
        }
        (Operator::TsIncrement, Some(RawBson::Timestamp(timestamp))) => {
            Ok(Some(RawBson::Int64(timestamp.increment.into())))
        }
        (operator, value) => {
            let (expected, code) = match operator {
                Operator::BinarySize => ("a text or binary data", 51_276),
                Operator::BsonSize => ("a document", 31_393),
                Operator::TsSecond => ("a timestamp", 5_687_301),
                _ => ("a timestamp", 5_687_302),
            };
            let reason = format!("it needs {expected}, not {}", type_of(value));
            Err(failed(operator, reason, code))
        }
    }
}
