//! Reading the documents that the library has written for itself.

use std::fmt;

use bson::{
    RawBsonRef, RawDocument, RawDocumentBuf, error::Error, raw, raw::cstr, spec::BinarySubtype,
};
use odm_mql::stored_value;
use serde::{
    Deserializer,
    de::{
        self, DeserializeOwned, DeserializeSeed, EnumAccess, Error as _, Expected,
        IntoDeserializer, MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
        value::BorrowedStrDeserializer,
    },
};

/// The prefixes of the names of newtypes by which the types of `bson` send requests to its deserializers.
const PRIVATE: [&str; 2] = ["$__private__bson_", "$__bson_private_"];

/// Reads the bytes of a document that the library has written for itself.
///
/// The compiler generates little code for a type here, since a type gets only the kind of value that it requests. The deserializer of
/// `bson` has a dozen kinds of maps, and the compiler would generate the code of a type for each of them. An erased deserializer would
/// add 26 functions and a table for each type.
#[doc(hidden)]
pub fn decode<T: DeserializeOwned>(document: &[u8]) -> bson::error::Result<T> {
    let document = RawDocument::from_bytes(document)?;
    T::deserialize(Value(RawBsonRef::Document(document))).map_err(|error| *error.0)
}

/// An error of one word, which is moved through each level of a document.
#[derive(Debug)]
struct DecodeError(Box<Error>);

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for DecodeError {}

impl de::Error for DecodeError {
    #[cold]
    fn custom<T: fmt::Display>(text: T) -> Self {
        Error::custom(text).into()
    }
}

impl From<Error> for DecodeError {
    #[cold]
    fn from(error: Error) -> Self {
        DecodeError(Box::new(error))
    }
}

/// A value of a document.
#[derive(Clone, Copy)]
struct Value<'de>(RawBsonRef<'de>);

impl<'de> Value<'de> {
    /// The error of a type that requests another value.
    #[cold]
    fn mismatch(self, expected: &dyn Expected) -> DecodeError {
        let found = match self.0 {
            RawBsonRef::Boolean(value) => Unexpected::Bool(value),
            RawBsonRef::Int32(value) => Unexpected::Signed(value.into()),
            RawBsonRef::Int64(value) => Unexpected::Signed(value),
            RawBsonRef::Double(value) => Unexpected::Float(value),
            RawBsonRef::String(value) => Unexpected::Str(value),
            RawBsonRef::Null => Unexpected::Unit,
            RawBsonRef::Array(_) => Unexpected::Seq,
            RawBsonRef::Binary(value) => Unexpected::Bytes(value.bytes),
            _ => Unexpected::Map,
        };
        DecodeError::invalid_type(found, expected)
    }

    fn number<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.0 {
            RawBsonRef::Int32(value) => visitor.visit_i64(value.into()),
            RawBsonRef::Int64(value) => visitor.visit_i64(value),
            RawBsonRef::Double(value) => visitor.visit_f64(value),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn text<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.0 {
            RawBsonRef::String(text) => visitor.visit_borrowed_str(text),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn array<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.0 {
            RawBsonRef::Array(array) => visitor.visit_seq(Elements(array.into_iter())),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn document<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.0 {
            RawBsonRef::Document(document) => visitor.visit_map(Fields::new(document)),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    /// The bytes of binary data, or of an id.
    fn bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.0 {
            RawBsonRef::ObjectId(id) => visitor.visit_bytes(&id.bytes()),
            RawBsonRef::Binary(binary) if binary.subtype == BinarySubtype::Generic => {
                visitor.visit_borrowed_bytes(binary.bytes)
            }
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn boolean<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.0 {
            RawBsonRef::Boolean(value) => visitor.visit_bool(value),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn null<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.0 {
            RawBsonRef::Null => visitor.visit_unit(),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    /// A document with the value as its only field.
    fn field(self) -> RawDocumentBuf {
        let mut field = RawDocumentBuf::new();
        field.append(cstr!(""), self.0);
        field
    }
}

/// Methods that pass the value to one function.
macro_rules! requests {
    ($($method:ident($($argument:ident: $type:ty),*) => $to:ident;)+) => { $(
        #[inline]
        fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, DecodeError> {
            self.$to(visitor)
        }
    )+ };
}

impl<'de> Deserializer<'de> for Value<'de> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.0 {
            RawBsonRef::Int32(value) => visitor.visit_i32(value),
            RawBsonRef::Int64(value) => visitor.visit_i64(value),
            RawBsonRef::Double(value) => visitor.visit_f64(value),
            RawBsonRef::String(value) => visitor.visit_borrowed_str(value),
            RawBsonRef::Boolean(value) => visitor.visit_bool(value),
            RawBsonRef::Null => visitor.visit_unit(),
            RawBsonRef::Document(document) => visitor.visit_map(Fields::new(document)),
            RawBsonRef::Array(array) => visitor.visit_seq(Elements(array.into_iter())),
            RawBsonRef::Binary(binary) if binary.subtype == BinarySubtype::Generic => {
                visitor.visit_borrowed_bytes(binary.bytes)
            }
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.0 {
            RawBsonRef::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match self.0 {
            RawBsonRef::String(name) => visitor.visit_enum(name.into_deserializer()),
            RawBsonRef::Document(document) => visitor.visit_enum(Fields::new(document)),
            _ => Err(self.mismatch(&"an enum")),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        if name == stored_value::NAME {
            return visitor.visit_bytes(self.field().as_bytes());
        }
        if PRIVATE.iter().any(|prefix| name.starts_with(prefix)) {
            return Err(Error::custom("a type of `bson` is read with `stored_value`").into());
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_unit()
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    requests! {
        deserialize_bool() => boolean;
        deserialize_bytes() => bytes;
        deserialize_byte_buf() => bytes;
        deserialize_i8() => number;
        deserialize_i16() => number;
        deserialize_i32() => number;
        deserialize_i64() => number;
        deserialize_u8() => number;
        deserialize_u16() => number;
        deserialize_u32() => number;
        deserialize_u64() => number;
        deserialize_f32() => number;
        deserialize_f64() => number;
        deserialize_char() => text;
        deserialize_str() => text;
        deserialize_string() => text;
        deserialize_identifier() => text;
        deserialize_unit() => null;
        deserialize_unit_struct(_name: &'static str) => null;
        deserialize_seq() => array;
        deserialize_tuple(_len: usize) => array;
        deserialize_tuple_struct(_name: &'static str, _len: usize) => array;
        deserialize_map() => document;
        deserialize_struct(_name: &'static str, _fields: &'static [&'static str]) => document;
    }
}

/// The elements of an array.
struct Elements<'de>(raw::RawArrayIter<'de>);

impl<'de> SeqAccess<'de> for Elements<'de> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DecodeError> {
        match self.0.next().transpose()? {
            Some(value) => seed.deserialize(Value(value)).map(Some),
            None => Ok(None),
        }
    }
}

/// The fields of a document; or its one field, as a variant with its value.
struct Fields<'de> {
    rest: raw::RawIter<'de>,
    /// The value of the field whose name was read last.
    value: Option<RawBsonRef<'de>>,
}

impl<'de> Fields<'de> {
    fn new(document: &'de RawDocument) -> Self {
        Fields {
            rest: document.iter_elements(),
            value: None,
        }
    }

    fn next(&mut self) -> Result<Option<&'de str>, DecodeError> {
        let Some(element) = self.rest.next().transpose()? else {
            return Ok(None);
        };
        self.value = Some(element.value()?);
        Ok(Some(element.key().as_str()))
    }

    fn value(&mut self) -> Result<Value<'de>, DecodeError> {
        let value = self.value.take();
        value
            .map(Value)
            .ok_or_else(|| Error::custom("no value is left").into())
    }
}

impl<'de> MapAccess<'de> for Fields<'de> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DecodeError> {
        match self.next()? {
            Some(name) => {
                let name = BorrowedStrDeserializer::new(name);
                seed.deserialize(name).map(Some)
            }
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, DecodeError> {
        seed.deserialize(self.value()?)
    }
}

impl<'de> EnumAccess<'de> for Fields<'de> {
    type Error = DecodeError;
    type Variant = Value<'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        mut self,
        seed: V,
    ) -> Result<(V::Value, Value<'de>), DecodeError> {
        let name = self.next()?.unwrap_or_default();
        let variant = seed.deserialize(BorrowedStrDeserializer::<DecodeError>::new(name))?;
        Ok((variant, self.value()?))
    }
}

impl<'de> VariantAccess<'de> for Value<'de> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<(), DecodeError> {
        Err(self.mismatch(&"a variant without a value"))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, DecodeError> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, DecodeError> {
        self.array(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.document(visitor)
    }
}

#[cfg(test)]
mod tests;
