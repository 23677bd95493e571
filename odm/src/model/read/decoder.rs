//! A deserializer of stored bytes, several times as fast as the one of [`bson`].
//!
//! It reads a value exactly as
//! `bson` does. It makes no messages, and gives up where it cannot decide: at damaged bytes, at types that are rare in documents, at the
//! types of `bson` with a protocol of their own, and when a type requests the text of an error. The caller then uses `bson`, which decides
//! on the value and on the error.

mod extended;

use std::{cell::Cell, fmt};

use bson::spec::{BinarySubtype, ElementType};
use serde::{
    Deserializer,
    de::{
        self, DeserializeSeed, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess,
        Visitor, value::BorrowedStrDeserializer,
    },
    forward_to_deserialize_any,
};

use self::extended::{Extended, visit};

/// The name of the newtype that requests a date as its milliseconds.
pub(crate) const DATE_TIME: &str = "$__odm_date_time";
/// The name by which `bson::Uuid` requests a binary value of its subtype.
const BSON_UUID: &str = "$__bson_private_uuid";
/// The prefix of the names of newtypes by which types send requests to their own deserializer.
const PRIVATE: &str = "$__";

thread_local! {
    /// Whether the value that this thread decodes must be read by `bson`. An error alone does not tell, since types may replace an error by
    /// a default.
    static GAVE_UP: Cell<bool> = const { Cell::new(false) };
}

/// Why no value was read.
#[derive(Debug, PartialEq)]
pub(super) enum Undecoded {
    /// The type does not accept the stored value. `bson` would not read it either.
    Refused,
    /// Only `bson` can tell.
    GaveUp,
}

/// Reads a value from the bytes of a document.
pub(super) fn decode<'de, T: de::Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, Undecoded> {
    let elements = match bytes {
        [_, _, _, _, elements @ .., 0] if stated(bytes) == Some(bytes.len()) => elements,
        _ => return Err(Undecoded::GaveUp),
    };
    // A type may decode another document while it is decoded.
    let outer = GAVE_UP.replace(false);
    let read = T::deserialize(Value {
        kind: ElementType::EmbeddedDocument,
        bytes: elements,
    });
    match (GAVE_UP.replace(outer), read) {
        (true, _) => Err(Undecoded::GaveUp),
        (false, Ok(value)) => Ok(value),
        (false, Err(_)) => Err(Undecoded::Refused),
    }
}

#[cold]
fn give_up() -> Failed {
    GAVE_UP.set(true);
    Failed
}

/// An error without a text, which `bson` then provides.
struct Failed;

impl fmt::Display for Failed {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        give_up();
        Ok(())
    }
}

impl fmt::Debug for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Failed {}

impl de::Error for Failed {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Failed
    }

    fn invalid_type(_: de::Unexpected<'_>, _: &dyn de::Expected) -> Self {
        Failed
    }

    fn invalid_value(_: de::Unexpected<'_>, _: &dyn de::Expected) -> Self {
        Failed
    }

    fn missing_field(_: &'static str) -> Self {
        Failed
    }
}

/// A stored value.
#[derive(Clone, Copy)]
struct Value<'de> {
    kind: ElementType,
    /// All bytes of the value; for texts, documents and arrays without the length and the final zero.
    bytes: &'de [u8],
}

impl<'de> Value<'de> {
    #[inline]
    fn number<const N: usize>(&self) -> Result<[u8; N], Failed> {
        self.bytes.try_into().map_err(|_| give_up())
    }

    #[inline]
    fn text(&self) -> Result<&'de str, Failed> {
        simdutf8::basic::from_utf8(self.bytes).map_err(|_| give_up())
    }

    #[inline]
    fn elements(&self) -> ElementReader<'de> {
        ElementReader {
            rest: self.bytes,
            value: None,
        }
    }
}

impl<'de> Deserializer<'de> for Value<'de> {
    type Error = Failed;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        match self.kind {
            ElementType::Int32 => visitor.visit_i32(i32::from_le_bytes(self.number()?)),
            ElementType::Int64 => visitor.visit_i64(i64::from_le_bytes(self.number()?)),
            ElementType::Double => visitor.visit_f64(f64::from_le_bytes(self.number()?)),
            ElementType::String => visitor.visit_borrowed_str(self.text()?),
            ElementType::Boolean => match self.bytes {
                [0] => visitor.visit_bool(false),
                [1] => visitor.visit_bool(true),
                _ => Err(give_up()),
            },
            ElementType::Null => visitor.visit_unit(),
            ElementType::EmbeddedDocument => visitor.visit_map(self.elements()),
            ElementType::Array => visitor.visit_seq(self.elements()),
            ElementType::Binary => match self.bytes {
                [_, _, _, _, subtype, bytes @ ..] => match BinarySubtype::from(*subtype) {
                    BinarySubtype::Generic => visitor.visit_borrowed_bytes(bytes),
                    BinarySubtype::BinaryOld => Err(give_up()),
                    subtype => visit(visitor, Extended::binary(subtype, bytes)),
                },
                _ => Err(give_up()),
            },
            ElementType::ObjectId => visit(visitor, Extended::object_id(self.number()?)),
            ElementType::DateTime => visit(visitor, Extended::date_time(self.number()?)),
            ElementType::Decimal128 => visit(visitor, Extended::decimal128(self.bytes)),
            _ => Err(give_up()),
        }
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        match self.kind {
            ElementType::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failed> {
        match self.kind {
            ElementType::String => visitor.visit_enum(self.text()?.into_deserializer()),
            ElementType::EmbeddedDocument => visitor.visit_enum(self.elements()),
            _ => Err(Failed),
        }
    }

    #[inline]
    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        match self.kind {
            ElementType::ObjectId => visitor.visit_borrowed_bytes(self.bytes),
            _ => self.deserialize_any(visitor),
        }
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failed> {
        if !name.starts_with(PRIVATE) {
            return visitor.visit_newtype_struct(self);
        }
        match (name, self.kind) {
            (DATE_TIME, ElementType::DateTime) => {
                visitor.visit_i64(i64::from_le_bytes(self.number()?))
            }
            (DATE_TIME, _) => visitor.visit_newtype_struct(self),
            (BSON_UUID, ElementType::Binary)
                if self.bytes.get(4) != Some(&BinarySubtype::Uuid.into()) =>
            {
                Err(Failed)
            }
            (BSON_UUID, _) => self.deserialize_any(visitor),
            _ => Err(give_up()),
        }
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    forward_to_deserialize_any! {
        bool char str byte_buf unit unit_struct string
        identifier seq tuple tuple_struct struct
        map ignored_any i8 i16 i32 i64 u8 u16 u32 u64 f32 f64
    }
}

/// The elements of a document or array that come next.
///
/// The methods that take the next one are always inlined: calls, each of which moves an element through memory, double the time to read an
/// array of numbers.
struct ElementReader<'de> {
    rest: &'de [u8],
    /// The value of the field whose name was read last.
    value: Option<Value<'de>>,
}

impl<'de> ElementReader<'de> {
    #[inline(always)]
    fn next(&mut self) -> Result<Option<(&'de [u8], Value<'de>)>, Failed> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        match self.split() {
            Some(element) => Ok(Some(element)),
            None => Err(self.end()),
        }
    }

    /// Gives up. Types that go on after an error find no more elements.
    #[cold]
    fn end(&mut self) -> Failed {
        self.rest = &[];
        give_up()
    }

    #[inline(always)]
    fn next_named(&mut self) -> Result<Option<&'de str>, Failed> {
        self.value = None;
        let Some((name, value)) = self.next()? else {
            return Ok(None);
        };
        let name = std::str::from_utf8(name).map_err(|_| self.end())?;
        self.value = Some(value);
        Ok(Some(name))
    }

    /// Takes the next element, unless it is damaged or of a rare type.
    #[inline(always)]
    fn split(&mut self) -> Option<(&'de [u8], Value<'de>)> {
        let (kind, rest) = self.rest.split_first()?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        let (name, rest) = (&rest[..end], &rest[end + 1..]);
        let kind = ElementType::from(*kind)?;
        let (before, len, after) = match kind {
            ElementType::Int64 | ElementType::Double | ElementType::DateTime => (0, 8, 0),
            ElementType::String => (4, stated(rest)?.checked_sub(1)?, 1),
            ElementType::Int32 => (0, 4, 0),
            ElementType::EmbeddedDocument | ElementType::Array => {
                (4, stated(rest)?.checked_sub(5)?, 1)
            }
            ElementType::Boolean => (0, 1, 0),
            ElementType::Null => (0, 0, 0),
            ElementType::ObjectId => (0, 12, 0),
            ElementType::Decimal128 => (0, 16, 0),
            ElementType::Binary => (0, stated(rest)?.checked_add(5)?, 0),
            // Only `bson` reads the other types.
            _ => return None,
        };
        let (bytes, rest) = rest.get(before..)?.split_at_checked(len)?;
        let (end, rest) = rest.split_at_checked(after)?;
        if end.first().is_some_and(|end| *end != 0) {
            return None;
        }
        self.rest = rest;
        Some((name, Value { kind, bytes }))
    }

    fn variant(self) -> Result<Value<'de>, Failed> {
        self.value.ok_or(Failed)
    }
}

/// The length that stands before a value.
#[inline]
fn stated(bytes: &[u8]) -> Option<usize> {
    let len = i32::from_le_bytes(*bytes.first_chunk()?);
    usize::try_from(len).ok()
}

impl<'de> MapAccess<'de> for ElementReader<'de> {
    type Error = Failed;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Failed> {
        let name = self.next_named()?;
        let name = name.map(|name| seed.deserialize(BorrowedStrDeserializer::new(name)));
        name.transpose()
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Failed> {
        seed.deserialize(self.value.ok_or(Failed)?)
    }
}

impl<'de> SeqAccess<'de> for ElementReader<'de> {
    type Error = Failed;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Failed> {
        match self.next()? {
            None => Ok(None),
            // The names are positions.
            Some((name, value)) if name.is_ascii() => seed.deserialize(value).map(Some),
            Some(_) => Err(self.end()),
        }
    }
}

impl<'de> EnumAccess<'de> for ElementReader<'de> {
    type Error = Failed;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(
        mut self,
        seed: V,
    ) -> Result<(V::Value, Self), Failed> {
        let name = self.next_named()?.ok_or(Failed)?;
        let variant = seed.deserialize(BorrowedStrDeserializer::<Failed>::new(name))?;
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for ElementReader<'de> {
    type Error = Failed;

    fn unit_variant(self) -> Result<(), Failed> {
        Err(Failed)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Failed> {
        seed.deserialize(self.variant()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Failed> {
        self.variant()?.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failed> {
        self.variant()?.deserialize_any(visitor)
    }
}

#[cfg(test)]
mod tests;
