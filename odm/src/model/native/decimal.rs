//! Decimals, stored as `Decimal128`.

use std::fmt;

use bson::{Decimal128, RawBson, doc};
use odm_mql as mql;
use odm_store::Result;
use rust_decimal::Decimal;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::NativeForm;
use crate::model::{
    Addable, IntoAmount, Known, Number, Operand, Ordered, SchemaTypes,
    derived::{SumOf, SumType},
};

/// The exponent of a `Decimal128` whose bits of the exponent are zeros.
const BIAS: u32 = 6176;
/// The bits of the coefficient.
const COEFFICIENT: u32 = 113;

/// A decimal as it is stored: with its digits and its scale.
#[derive(Debug, Clone, Copy)]
pub struct StoredDecimal(Decimal);

fn to_decimal128(decimal: Decimal) -> Decimal128 {
    let sign = u128::from(decimal.is_sign_negative()) << 127;
    let exponent = u128::from(BIAS - decimal.scale()) << COEFFICIENT;
    let bits = sign | exponent | decimal.mantissa().unsigned_abs();
    Decimal128::from_bytes(bits.to_le_bytes())
}

/// The same number, if the type can represent it.
fn from_decimal128(stored: Decimal128) -> Option<Decimal> {
    let (negative, digits, scale) = mql::of_96_bits(stored)?;
    let mantissa = i128::try_from(digits).ok()?;
    let mut decimal = Decimal::try_from_i128_with_scale(mantissa, scale).ok()?;
    decimal.set_sign_negative(negative);
    Some(decimal)
}

impl Serialize for StoredDecimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(&self.0)
        } else {
            to_decimal128(self.0).serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for StoredDecimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(ReadableDecimalVisitor)
        } else {
            read(Decimal128::deserialize(deserializer)?)
        }
    }
}

fn read<E: de::Error>(stored: Decimal128) -> std::result::Result<StoredDecimal, E> {
    let decimal = from_decimal128(stored);
    let beyond = || {
        let most = Decimal::MAX;
        E::custom(format!(
            "decimal {stored} has more digits than a `Decimal`, of at most ±{most} and 28 digits behind the point"
        ))
    };
    decimal.map(StoredDecimal).ok_or_else(beyond)
}

struct ReadableDecimalVisitor;

impl<'de> de::Visitor<'de> for ReadableDecimalVisitor {
    type Value = StoredDecimal;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a decimal, as a text or a number")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<StoredDecimal, E> {
        let decimal = Decimal::from_str_exact(text);
        decimal.map(StoredDecimal).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> std::result::Result<StoredDecimal, E> {
        Ok(StoredDecimal(number.into()))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> std::result::Result<StoredDecimal, E> {
        Ok(StoredDecimal(number.into()))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> std::result::Result<StoredDecimal, E> {
        // The shortest text is the text of the JSON.
        self.visit_str(&number.to_string())
    }

    // BSON that serde buffers, for a flattened struct or an enum that is not externally tagged, comes as extended JSON from a deserializer
    // that reports itself as human readable.
    fn visit_map<A: de::MapAccess<'de>>(
        self,
        map: A,
    ) -> std::result::Result<StoredDecimal, A::Error> {
        read(Decimal128::deserialize(
            de::value::MapAccessDeserializer::new(map),
        )?)
    }
}

impl Known for StoredDecimal {
    const OPERAND: Option<Operand> = Some(Operand::ordered::<Self>());

    fn schema(_: &mut SchemaTypes) -> bson::Document {
        doc! {
            "bsonType": "decimal",
            "minimum": to_decimal128(Decimal::MIN),
            "maximum": to_decimal128(Decimal::MAX),
            "nativeForm": mql::native_form("decimal"),
        }
    }
}

impl Ordered for StoredDecimal {
    type Present = Self;
}

#[diagnostic::do_not_recommend]
impl SumOf<i64> for super::Native<Decimal> {
    const TYPE: SumType = SumType::Decimal128;
}
#[diagnostic::do_not_recommend]
impl SumOf<Decimal128> for super::Native<Decimal> {
    const TYPE: SumType = SumType::Decimal128;
}
#[diagnostic::do_not_recommend]
impl SumOf<super::Native<Decimal>> for super::Native<Decimal> {
    const TYPE: SumType = SumType::Decimal128;
}
#[diagnostic::do_not_recommend]
impl SumOf<super::Native<Decimal>> for Decimal128 {
    const TYPE: SumType = SumType::Decimal128;
}

// A mean can have more digits than the type.
#[diagnostic::do_not_recommend]
impl Addable for super::Native<Decimal> {
    type Sum = super::Native<Decimal>;
    type Mean = Decimal128;

    fn widen(sum: RawBson) -> RawBson {
        Decimal128::widen(sum)
    }
}

#[diagnostic::do_not_recommend]
impl Addable for super::Native<Option<Decimal>> {
    type Sum = super::Native<Decimal>;
    type Mean = Decimal128;

    fn widen(sum: RawBson) -> RawBson {
        Decimal128::widen(sum)
    }
}

// A sum or product can have more digits than the type: the stored schema refuses that.
#[diagnostic::do_not_recommend]
impl Number for super::Native<Decimal> {}

#[diagnostic::do_not_recommend]
impl Number for super::Native<Option<Decimal>> {}

macro_rules! amounts {
    ($($field:ty)*) => { $(
        #[diagnostic::do_not_recommend]
        impl IntoAmount<super::Native<$field>> for Decimal {
            type Amount = StoredDecimal;

            fn into_amount(self) -> StoredDecimal {
                StoredDecimal(self)
            }
        }
    )* };
}
amounts!(Decimal Option<Decimal>);

impl NativeForm for Decimal {
    type Form = StoredDecimal;

    fn to_form(&self) -> StoredDecimal {
        StoredDecimal(*self)
    }

    fn from_form(form: StoredDecimal) -> Result<Self> {
        Ok(form.0)
    }
}
