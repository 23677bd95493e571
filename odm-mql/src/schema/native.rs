//! The keyword `nativeForm` of stored schemas: rules for `f32` and for types of other crates that MongoDB's dialect cannot state.
//! It is not sent to a server.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bson::{Bson, Document, RawBsonRef, RawDocument, spec::BinarySubtype};

use crate::decimal;

/// The keyword.
pub(super) const KEYWORD: &str = "nativeForm";

const DAY: i64 = 86_400_000;

/// A rule for the values of one BSON type.
pub(super) enum NativeForm {
    /// A double in the range of an `f32`: it must not become infinite by the conversion. It may lose precision.
    F32,
    /// A decimal of 96 bits, with up to 28 digits behind the point.
    Decimal,
    /// A UUID of subtype 4.
    Uuid,
    Ip,
    Ipv4,
    Ipv6,
    /// A date from the first to the last one, or the start of a day in UTC.
    Date {
        min: i64,
        max: i64,
        is_day: bool,
    },
}

impl NativeForm {
    /// Parses the operand of the keyword.
    pub(super) fn parse(operand: &RawDocument) -> Option<NativeForm> {
        Some(match operand.get_str("kind").ok()? {
            "f32" => NativeForm::F32,
            "decimal" => NativeForm::Decimal,
            "uuid" => NativeForm::Uuid,
            "ip" => NativeForm::Ip,
            "ipv4" => NativeForm::Ipv4,
            "ipv6" => NativeForm::Ipv6,
            kind @ ("date" | "day") => NativeForm::Date {
                min: operand.get_i64("min").ok()?,
                max: operand.get_i64("max").ok()?,
                is_day: kind == "day",
            },
            _ => return None,
        })
    }

    /// Whether the type has a value. Values of another BSON type pass: the rule does not apply to them.
    pub(super) fn has(&self, value: RawBsonRef<'_>) -> bool {
        match (self, value) {
            (NativeForm::F32, RawBsonRef::Double(value)) => {
                (value as f32).is_finite() || !value.is_finite()
            }
            (NativeForm::Decimal, RawBsonRef::Decimal128(value)) => {
                decimal::of_96_bits(value).is_some()
            }
            (NativeForm::Uuid, RawBsonRef::Binary(binary)) => {
                binary.subtype == BinarySubtype::Uuid && binary.bytes.len() == 16
            }
            (NativeForm::Ip, RawBsonRef::String(text)) => text.parse::<IpAddr>().is_ok(),
            (NativeForm::Ipv4, RawBsonRef::String(text)) => text.parse::<Ipv4Addr>().is_ok(),
            (NativeForm::Ipv6, RawBsonRef::String(text)) => text.parse::<Ipv6Addr>().is_ok(),
            (NativeForm::Date { min, max, is_day }, RawBsonRef::DateTime(date)) => {
                let millis = date.timestamp_millis();
                (*min..=*max).contains(&millis) && (!is_day || millis.rem_euclid(DAY) == 0)
            }
            _ => true,
        }
    }

    /// The requirement on a value, in words.
    pub(super) fn words(&self) -> String {
        match self {
            NativeForm::F32 => format!("a number of at most {:e}, as an `f32` is", f32::MAX),
            NativeForm::Decimal => {
                "a decimal of at most 96 bits, with at most 28 digits behind the point".to_owned()
            }
            NativeForm::Uuid => "a UUID of subtype 4".to_owned(),
            NativeForm::Ip => "an IP address".to_owned(),
            NativeForm::Ipv4 => "an IPv4 address".to_owned(),
            NativeForm::Ipv6 => "an IPv6 address".to_owned(),
            NativeForm::Date { min, max, is_day } => {
                let what = match is_day {
                    true => "the start of a day in UTC",
                    false => "a date",
                };
                format!("{what} between {min} and {max} ms since 1970")
            }
        }
    }
}

/// The operand for a kind of values.
#[doc(hidden)]
pub fn native_form(kind: &str) -> Document {
    bson::doc! { "kind": kind }
}

/// The operand for dates, or days, in a range of milliseconds since 1970. The bounds are numbers, since many languages have no dates as
/// early or late as the ends of the ranges.
#[doc(hidden)]
pub fn native_dates(kind: &str, min: i64, max: i64) -> Document {
    bson::doc! {
        "kind": kind,
        "min": min,
        "max": max,
    }
}

/// Removes the keyword from a schema, and from all schemas in it. Returns whether it was there.
#[doc(hidden)]
pub fn remove_native_forms(schema: &mut Document) -> bool {
    let mut found = schema.remove(KEYWORD).is_some();
    for (keyword, value) in schema.iter_mut() {
        let is_of_names = ["properties", "patternProperties", "dependencies"];
        let is_of_schemas = ["allOf", "anyOf", "oneOf", "items"];
        let is_schema = ["items", "additionalItems", "additionalProperties", "not"];
        let keyword = keyword.as_str();
        match value {
            Bson::Document(inner) if is_of_names.contains(&keyword) => {
                for (_, inner) in inner.iter_mut() {
                    if let Bson::Document(inner) = inner {
                        found |= remove_native_forms(inner);
                    }
                }
            }
            Bson::Document(inner) if is_schema.contains(&keyword) => {
                found |= remove_native_forms(inner);
            }
            Bson::Array(all) if is_of_schemas.contains(&keyword) => {
                for inner in all.iter_mut().filter_map(Bson::as_document_mut) {
                    found |= remove_native_forms(inner);
                }
            }
            _ => {}
        }
    }
    found
}
