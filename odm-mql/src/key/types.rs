//! Values that are decoded from their keys, where the types of all values are known.

use std::ops::BitOrAssign;

use bson::{DateTime, RawBson, RawBsonRef, oid::ObjectId};

use crate::{number::Number, order::Class};

/// The types among values that have equal keys: numbers of several types, and texts and symbols.
///
/// Keys tell the other types apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Types(u8);

impl Types {
    /// The types of no values.
    pub const NONE: Types = Types(0);
    /// All types: nothing is known of the values.
    pub const ANY: Types = Types(0b1111);

    const INT32: Types = Types(0b0001);
    const INT64: Types = Types(0b0010);
    const DOUBLE: Types = Types(0b0100);
    /// Values that no key is decoded to: decimals, symbols, the negative zero, and a NaN with bits of its own.
    const OTHER: Types = Types(0b1000);

    /// The type of a value.
    #[inline]
    pub fn of(value: RawBsonRef<'_>) -> Types {
        match value {
            RawBsonRef::Int32(_) => Types::INT32,
            RawBsonRef::Int64(_) => Types::INT64,
            RawBsonRef::Double(value) if value.to_bits() == canonical(value).to_bits() => {
                Types::DOUBLE
            }
            RawBsonRef::Double(_) | RawBsonRef::Decimal128(_) | RawBsonRef::Symbol(_) => {
                Types::OTHER
            }
            _ => Types::NONE,
        }
    }

    /// The types with these bits; the others have no meaning.
    pub fn from_bits(bits: u8) -> Types {
        Types(bits & Types::ANY.0)
    }

    /// The bits from which [`from_bits`](Types::from_bits) has the types.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// Whether these are all of the other types, or more.
    #[inline]
    pub fn contains(self, other: Types) -> bool {
        self.0 & other.0 == other.0
    }

    /// The value with a key, which was encoded without a collation from a value of these types. `None` if several values have it, or
    /// if values of its class are not decoded.
    pub fn decode(self, key: &[u8]) -> Option<RawBson> {
        let (&class, body) = key.split_first()?;
        if class == Class::Number as u8 {
            return self.number(Number::decode_double(body)?);
        }
        if class == Class::String as u8 {
            let text = body.strip_suffix(&[0])?;
            // Other bytes than the escaped ones stand for themselves.
            let is_plain = !self.contains(Types::OTHER) && !text.contains(&1);
            let text = is_plain.then(|| std::str::from_utf8(text).ok()).flatten();
            return text.map(|text| RawBson::String(text.to_owned()));
        }
        if class == Class::Null as u8 {
            return body.is_empty().then_some(RawBson::Null);
        }
        if class == Class::ObjectId as u8 {
            let bytes = body.try_into().ok()?;
            return Some(RawBson::ObjectId(ObjectId::from_bytes(bytes)));
        }
        if class == Class::Boolean as u8 {
            return Some(RawBson::Boolean(*body.first()? != 0));
        }
        if class == Class::DateTime as u8 {
            let millis = i64::from_be_bytes(body.try_into().ok()?) ^ i64::MIN;
            return Some(RawBson::DateTime(DateTime::from_millis(millis)));
        }
        None
    }

    fn number(self, value: f64) -> Option<RawBson> {
        match self {
            Types::INT32 => Some(RawBson::Int32(value as i32)),
            Types::INT64 => Some(RawBson::Int64(value as i64)),
            Types::DOUBLE => Some(RawBson::Double(value)),
            _ => None,
        }
    }
}

impl BitOrAssign for Types {
    fn bitor_assign(&mut self, other: Types) {
        self.0 |= other.0;
    }
}

/// The double that is decoded from the key of this one.
fn canonical(value: f64) -> f64 {
    if value.is_nan() {
        f64::NAN
    } else {
        // The sum turns -0.0 into 0.0.
        value + 0.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        key,
        testing::{number, raw_value, value},
    };

    /// The value that a key decodes to, if all values have the types of these.
    fn decoded(values: &[&RawBson]) -> Option<RawBson> {
        let mut types = Types::NONE;
        for value in values {
            types |= Types::of(value.as_raw_bson_ref());
        }
        types.decode(&key::of(values[0].as_raw_bson_ref()))
    }

    fn is_same(a: &RawBson, b: &RawBson) -> bool {
        match (a, b) {
            (RawBson::Double(a), RawBson::Double(b)) => a.to_bits() == b.to_bits(),
            (a, b) => a == b,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn a_key_decodes_to_the_value_or_to_none(value in prop_oneof![value(), number()]) {
            let value = raw_value(value);
            if let Some(decoded) = decoded(&[&value]) {
                prop_assert!(is_same(&decoded, &value), "{value:?} is decoded as {decoded:?}");
            }
            prop_assert_eq!(Types::ANY.decode(&key::of(value.as_raw_bson_ref())).filter(|_| {
                matches!(Class::of(value.as_raw_bson_ref()), Class::Number | Class::String)
            }), None);
        }

        #[test]
        fn a_number_is_not_decoded_beside_numbers_of_another_type(a in number(), b in number()) {
            let (a, b) = (raw_value(a), raw_value(b));
            if std::mem::discriminant(&a) != std::mem::discriminant(&b) {
                prop_assert_eq!(decoded(&[&a, &b]), None);
            }
        }
    }

    #[test]
    fn values_of_the_usual_types_are_decoded() {
        let values = [
            RawBson::Int32(-7),
            RawBson::Int64(1 << 40),
            RawBson::Double(-0.5),
            RawBson::Double(f64::NAN),
            RawBson::String("a text".to_owned()),
            RawBson::String(String::new()),
            RawBson::ObjectId(ObjectId::from_bytes([7; 12])),
            RawBson::Boolean(false),
            RawBson::Boolean(true),
            RawBson::DateTime(DateTime::from_millis(-1)),
            RawBson::Null,
        ];
        for value in &values {
            let decoded = decoded(&[value]);
            assert!(
                decoded.is_some_and(|decoded| is_same(&decoded, value)),
                "{value:?}"
            );
        }
        let not = [
            RawBson::Double(-0.0),
            RawBson::Int64(i64::MAX),
            RawBson::Symbol("a".to_owned()),
            RawBson::String("\u{1}".to_owned()),
            RawBson::Undefined,
        ];
        for value in &not {
            assert_eq!(decoded(&[value]), None, "{value:?}");
        }
    }
}
