//! Conversions of values to other types.

mod binary;
mod texts;

use bson::{
    Binary, DateTime, RawBson,
    oid::ObjectId,
    spec::{BinarySubtype, ElementType},
};

use self::{
    binary::{ByteOrder, Format},
    texts::{date_text, double_text},
};
use super::evaluate::{is_null, truthy};
use crate::{Error, decimal::Decimal, error::code, number, types};

/// The target of a conversion.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Target {
    /// Null, whatever the value is.
    Null,
    /// The type of a missing value, which no value can be converted to.
    Missing,
    /// A type, and how binary data is converted.
    Type(ElementType, BinaryForm),
}

/// How binary data is made and read.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct BinaryForm {
    /// The subtype as an argument, which is read where binary data is made.
    subtype: Option<RawBson>,
    format: Option<Format>,
    order: ByteOrder,
}

impl BinaryForm {
    fn subtype(&self) -> Result<BinarySubtype, Failure> {
        binary::subtype(self.subtype.as_ref())
    }
}

impl Target {
    /// The target that `to` of `$convert` stands for: the name or the code of a type, or a document with it and with the subtype of binary
    /// data.
    pub(super) fn new(to: &Option<RawBson>) -> Result<Target, Error> {
        let Some(RawBson::Document(document)) = to else {
            return Target::of_type(to);
        };
        let (mut kind, mut subtype) = (None, None);
        for (name, value) in document.iter().flatten() {
            match name.as_str() {
                "type" => kind = Some(RawBson::from(value)),
                "subtype" => subtype = Some(RawBson::from(value)),
                // As in MongoDB, other fields have no meaning.
                _ => {}
            }
        }
        match (Target::of_type(&kind)?, kind) {
            (_, None) => Err(bad_target("the document needs a `type`")),
            (Target::Null, _) => Err(bad_target("the `type` is null")),
            (Target::Type(kind, form), _) => Ok(Target::Type(kind, BinaryForm { subtype, ..form })),
            (target, _) => Ok(target),
        }
    }

    /// The target with the arguments `format` and `byteOrder`.
    pub(super) fn with_form(
        self,
        format: &Option<RawBson>,
        byte_order: &Option<RawBson>,
    ) -> Result<Target, Error> {
        let Target::Type(kind, form) = self else {
            return Ok(self);
        };
        let of_argument = |failure| failed_conversion(CONVERT, &RawBson::Null, "", failure);
        let form = BinaryForm {
            format: binary::format(format).map_err(of_argument)?,
            order: binary::byte_order(byte_order).map_err(of_argument)?,
            ..form
        };
        Ok(Target::Type(kind, form))
    }

    /// The target of an operator that converts to a type.
    pub(super) fn of_operator(kind: ElementType) -> Target {
        let (subtype, format) = match kind {
            ElementType::Binary => (Some(RawBson::Int32(4)), Format::Uuid),
            _ => (None, Format::Auto),
        };
        let form = BinaryForm {
            subtype,
            format: Some(format),
            order: ByteOrder::default(),
        };
        Target::Type(kind, form)
    }

    fn of_type(kind: &Option<RawBson>) -> Result<Target, Error> {
        match kind {
            kind if is_null(kind) => Ok(Target::Null),
            Some(RawBson::String(name)) if name == "missing" => Ok(Target::Missing),
            Some(RawBson::String(name)) => match types::by_name(name).as_deref() {
                Some([kind]) => Ok(Target::Type(*kind, BinaryForm::default())),
                _ => Err(failed(
                    CONVERT,
                    "`to` is no name of a type",
                    code::BAD_VALUE,
                )),
            },
            Some(number) => match number::whole(number.as_raw_bson_ref()) {
                Some(0) => Ok(Target::Missing),
                Some(code) => match types::by_code(code) {
                    Some(kind) => Ok(Target::Type(kind, BinaryForm::default())),
                    None => Err(bad_target("it is no code of a type")),
                },
                None => Err(bad_target("it is the name or the code of a type")),
            },
            None => Ok(Target::Null),
        }
    }
}

const CONVERT: &str = "$convert";

fn bad_target(reason: &str) -> Error {
    failed(CONVERT, &format!("`to`: {reason}"), code::FAILED_TO_PARSE)
}

fn failed(operator: &'static str, reason: &str, code: i32) -> Error {
    Error::Expression {
        operator,
        reason: reason.to_owned().into(),
        code,
    }
}

/// Whether `onError` takes the place of an error.
pub(super) fn is_failure(error: &Error) -> bool {
    error.code() == code::CONVERSION_FAILURE
}

/// Converts a value to a text.
pub(super) fn text(operator: &'static str, value: &RawBson) -> Result<String, Error> {
    text_of(value, None).map_err(|failure| failed_conversion(operator, value, "string", failure))
}

/// The milliseconds of a date as a text, in UTC if it names no zone.
pub(super) fn date_of_text(text: &str) -> Option<i64> {
    texts::date(text).map(DateTime::timestamp_millis)
}

/// The milliseconds on the clock of a date as a text that names no zone.
pub(super) fn local_date_of_text(text: &str) -> Option<i64> {
    texts::local_date(text).map(DateTime::timestamp_millis)
}

/// Converts a value that is not null.
pub(super) fn convert(
    operator: &'static str,
    value: &RawBson,
    target: &Target,
) -> Result<RawBson, Error> {
    let (result, name) = match target {
        Target::Null => return Ok(RawBson::Null),
        Target::Missing => (Err(Failure::Unsupported), "missing"),
        Target::Type(target, form) => (converted(value, *target, form), types::name(*target)),
    };
    result.map_err(|failure| failed_conversion(operator, value, name, failure))
}

fn failed_conversion(
    operator: &'static str,
    value: &RawBson,
    target: &str,
    failure: Failure,
) -> Error {
    let kind = types::name(value.element_type());
    let (reason, code) = match failure {
        Failure::Unsupported => ("no value of this type can be", code::CONVERSION_FAILURE),
        Failure::Value => ("this value cannot be", code::CONVERSION_FAILURE),
        Failure::Year => ("the year is not of four digits: it cannot be", 18_537),
        Failure::Argument(reason, code) => return failed(operator, reason, code),
    };
    failed(
        operator,
        &format!("{reason} converted from {kind} to {target}"),
        code,
    )
}

/// Why a value cannot be converted.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Failure {
    /// MongoDB has no conversion between the types.
    Unsupported,
    /// The value has no counterpart in the type.
    Value,
    /// A date whose year does not have four digits has no text.
    Year,
    /// An argument beside the value, with the code.
    Argument(&'static str, i32),
}

fn converted(value: &RawBson, target: ElementType, form: &BinaryForm) -> Result<RawBson, Failure> {
    if let RawBson::Binary(data) = value {
        match target {
            ElementType::Double => return binary::double(data, form.order).map(RawBson::Double),
            ElementType::Int32 => {
                let int = i32::try_from(binary::whole(data, form.order, 4)?);
                return int.map(RawBson::Int32).map_err(|_| Failure::Value);
            }
            ElementType::Int64 => return binary::whole(data, form.order, 8).map(RawBson::Int64),
            ElementType::Binary => {
                return binary::of_subtype(data, form.subtype()?).map(RawBson::Binary);
            }
            _ => {}
        }
    }
    match target {
        ElementType::Double => double(value).map(RawBson::Double),
        ElementType::String => text_of(value, form.format).map(RawBson::String),
        ElementType::ObjectId => object_id(value).map(RawBson::ObjectId),
        ElementType::Boolean => Ok(RawBson::Boolean(truthy(value.as_raw_bson_ref()))),
        ElementType::DateTime => date(value).map(RawBson::DateTime),
        ElementType::Int32 => int(value).map(RawBson::Int32),
        ElementType::Int64 => long(value).map(RawBson::Int64),
        ElementType::Decimal128 => match value {
            RawBson::Decimal128(_) => Ok(value.clone()),
            value => decimal(value).map(|value| RawBson::Decimal128(value.pack())),
        },
        ElementType::Binary => match value {
            RawBson::String(text) => {
                binary::of_text(text, form.format, form.subtype()?).map(RawBson::Binary)
            }
            value => match binary::of_number(value.as_raw_bson_ref(), form.order) {
                Some(bytes) => Ok(RawBson::Binary(Binary {
                    subtype: form.subtype()?,
                    bytes,
                })),
                None => Err(Failure::Unsupported),
            },
        },
        _ => Err(Failure::Unsupported),
    }
}

fn double(value: &RawBson) -> Result<f64, Failure> {
    match value {
        RawBson::Double(value) => Ok(*value),
        RawBson::Int32(value) => Ok((*value).into()),
        RawBson::Int64(value) => Ok(*value as f64),
        RawBson::Decimal128(value) => {
            let text = Decimal::new(*value).pack().to_string();
            texts::double(&text).ok_or(Failure::Value)
        }
        RawBson::Boolean(value) => Ok((*value).into()),
        RawBson::DateTime(date) => Ok(date.timestamp_millis() as f64),
        RawBson::String(text) => texts::double(text).ok_or(Failure::Value),
        _ => Err(Failure::Unsupported),
    }
}

fn int(value: &RawBson) -> Result<i32, Failure> {
    match value {
        RawBson::Int32(value) => Ok(*value),
        RawBson::Int64(value) => i32::try_from(*value).map_err(|_| Failure::Value),
        // The whole part is taken of a number that is in the range as it is.
        RawBson::Double(value) => {
            match f64::from(i32::MIN) <= *value && *value <= i32::MAX.into() {
                true => Ok(*value as i32),
                false => Err(Failure::Value),
            }
        }
        RawBson::Decimal128(value) => {
            let whole = Decimal::new(*value).truncated();
            let int = whole.and_then(|whole| i32::try_from(whole).ok());
            int.ok_or(Failure::Value)
        }
        RawBson::Boolean(value) => Ok((*value).into()),
        RawBson::String(text) => text.parse().map_err(|_| Failure::Value),
        _ => Err(Failure::Unsupported),
    }
}

fn long(value: &RawBson) -> Result<i64, Failure> {
    match value {
        RawBson::DateTime(date) => Ok(date.timestamp_millis()),
        RawBson::Boolean(value) => Ok((*value).into()),
        RawBson::String(text) => text.parse().map_err(|_| Failure::Value),
        RawBson::Int32(_) | RawBson::Int64(_) | RawBson::Double(_) | RawBson::Decimal128(_) => {
            number::truncated(value.as_raw_bson_ref()).ok_or(Failure::Value)
        }
        _ => Err(Failure::Unsupported),
    }
}

fn decimal(value: &RawBson) -> Result<Decimal, Failure> {
    match value {
        RawBson::Double(value) => Ok(Decimal::double(*value)),
        RawBson::Int32(value) => Ok(Decimal::int((*value).into())),
        RawBson::Int64(value) => Ok(Decimal::int(*value)),
        RawBson::Decimal128(value) => Ok(Decimal::new(*value)),
        RawBson::Boolean(value) => Ok(Decimal::int((*value).into())),
        RawBson::DateTime(date) => Ok(Decimal::int(date.timestamp_millis())),
        RawBson::String(text) => Decimal::parse(text).ok_or(Failure::Value),
        _ => Err(Failure::Unsupported),
    }
}

fn text_of(value: &RawBson, format: Option<Format>) -> Result<String, Failure> {
    match value {
        RawBson::Binary(data) => binary::text(data, format),
        RawBson::String(text) => Ok(text.clone()),
        RawBson::Double(value) => Ok(double_text(*value)),
        RawBson::Int32(value) => Ok(value.to_string()),
        RawBson::Int64(value) => Ok(value.to_string()),
        RawBson::Decimal128(value) => Ok(Decimal::new(*value).pack().to_string()),
        RawBson::Boolean(value) => Ok(value.to_string()),
        RawBson::DateTime(date) => date_text(*date).ok_or(Failure::Year),
        RawBson::ObjectId(id) => Ok(id.to_hex()),
        _ => Err(Failure::Unsupported),
    }
}

fn date(value: &RawBson) -> Result<DateTime, Failure> {
    let of_seconds = |seconds: i64| DateTime::from_millis(seconds.saturating_mul(1_000));
    match value {
        RawBson::DateTime(date) => Ok(*date),
        RawBson::Int64(_) | RawBson::Double(_) | RawBson::Decimal128(_) => {
            long(value).map(DateTime::from_millis)
        }
        RawBson::String(text) => texts::date(text).ok_or(Failure::Value),
        RawBson::ObjectId(id) => {
            // To MongoDB the time is a number with a sign.
            let [a, b, c, d, ..] = id.bytes();
            Ok(of_seconds(i32::from_be_bytes([a, b, c, d]).into()))
        }
        RawBson::Timestamp(timestamp) => Ok(of_seconds(timestamp.time.into())),
        _ => Err(Failure::Unsupported),
    }
}

fn object_id(value: &RawBson) -> Result<ObjectId, Failure> {
    match value {
        RawBson::ObjectId(id) => Ok(*id),
        RawBson::String(text) => ObjectId::parse_str(text).map_err(|_| Failure::Value),
        _ => Err(Failure::Unsupported),
    }
}

#[cfg(test)]
mod tests;
