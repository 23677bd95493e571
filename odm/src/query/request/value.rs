//! Values in a request: JSON as it is given, and the texts of a query string.

use std::fmt;

use odm_store::Result;
use serde::{
    Deserializer,
    de::{
        self, Error as _, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor,
        value::{BoolDeserializer, Error as ValueError, StrDeserializer},
    },
    forward_to_deserialize_any,
};

use super::fields::{shortened, wrong};

/// JSON, as far as filters use it: an object of objects of lists.
#[derive(Debug)]
pub(super) enum RequestJson {
    Scalar(RequestScalar),
    List(Vec<RequestJson>),
    Object(Vec<(String, RequestJson)>),
    /// A list or an object nested deeper than in a filter.
    Deep,
}

/// A value that is no list and no object.
#[derive(Debug)]
pub(super) enum RequestScalar {
    Null,
    Bool(bool),
    Integer(i64),
    Unsigned(u64),
    Float(f64),
    Text(String),
    /// A text that stands for a value of any type.
    Query(String),
}

/// How deep a filter is: a value in a list in an object of operators in the object of all fields.
const DEPTH: usize = 3;

/// Reads JSON from any format.
pub(super) fn json<'de>(from: impl Deserializer<'de>) -> Result<RequestJson> {
    let read = de::DeserializeSeed::deserialize(Seed(DEPTH), from);
    read.map_err(|error| {
        let error = error.to_string();
        wrong(format_args!(
            "filter is no JSON object: {}",
            shortened(&error)
        ))
    })
}

impl RequestJson {
    /// The name of its kind, for a message.
    pub(super) fn noun(&self) -> &'static str {
        match self {
            RequestJson::Scalar(RequestScalar::Null) => "null",
            RequestJson::Scalar(_) => "a value",
            RequestJson::List(_) => "a list",
            RequestJson::Object(_) => "an object",
            RequestJson::Deep => "a list or an object",
        }
    }
}

impl RequestScalar {
    /// Passes it on as a deserializer that a type can be read from.
    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&mut dyn erased_serde::Deserializer<'_>) -> T,
    ) -> T {
        fn erase<'de, T>(
            value: impl Deserializer<'de>,
            read: impl FnOnce(&mut dyn erased_serde::Deserializer<'de>) -> T,
        ) -> T {
            read(&mut <dyn erased_serde::Deserializer<'de>>::erase(value))
        }
        match self {
            RequestScalar::Null => {
                erase(IntoDeserializer::<ValueError>::into_deserializer(()), read)
            }
            RequestScalar::Bool(value) => erase(BoolDeserializer::<ValueError>::new(*value), read),
            RequestScalar::Integer(value) => erase(
                IntoDeserializer::<ValueError>::into_deserializer(*value),
                read,
            ),
            RequestScalar::Unsigned(value) => erase(
                IntoDeserializer::<ValueError>::into_deserializer(*value),
                read,
            ),
            RequestScalar::Float(value) => erase(
                IntoDeserializer::<ValueError>::into_deserializer(*value),
                read,
            ),
            RequestScalar::Text(text) => erase(StrDeserializer::<ValueError>::new(text), read),
            RequestScalar::Query(text) => erase(QueryText(text), read),
        }
    }
}

/// Reads JSON down to a depth.
struct Seed(usize);

impl<'de> de::DeserializeSeed<'de> for Seed {
    type Value = RequestJson;

    fn deserialize<D: Deserializer<'de>>(
        self,
        from: D,
    ) -> std::result::Result<RequestJson, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed {
    type Value = RequestJson;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> std::result::Result<RequestJson, E> {
        Ok(RequestJson::Scalar(RequestScalar::Null))
    }

    fn visit_none<E: de::Error>(self) -> std::result::Result<RequestJson, E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(
        self,
        from: D,
    ) -> std::result::Result<RequestJson, D::Error> {
        from.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> std::result::Result<RequestJson, E> {
        Ok(RequestJson::Scalar(RequestScalar::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> std::result::Result<RequestJson, E> {
        Ok(RequestJson::Scalar(RequestScalar::Integer(value)))
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<RequestJson, E> {
        Ok(RequestJson::Scalar(RequestScalar::Unsigned(value)))
    }

    fn visit_f64<E>(self, value: f64) -> std::result::Result<RequestJson, E> {
        Ok(RequestJson::Scalar(RequestScalar::Float(value)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<RequestJson, E> {
        self.visit_string(text.to_owned())
    }

    fn visit_string<E>(self, text: String) -> std::result::Result<RequestJson, E> {
        Ok(RequestJson::Scalar(RequestScalar::Text(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(
        self,
        mut list: A,
    ) -> std::result::Result<RequestJson, A::Error> {
        let Some(inner) = self.0.checked_sub(1) else {
            while list.next_element::<de::IgnoredAny>()?.is_some() {}
            return Ok(RequestJson::Deep);
        };
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(Seed(inner))? {
            values.push(value);
        }
        Ok(RequestJson::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(
        self,
        mut map: A,
    ) -> std::result::Result<RequestJson, A::Error> {
        let Some(inner) = self.0.checked_sub(1) else {
            while map
                .next_entry::<de::IgnoredAny, de::IgnoredAny>()?
                .is_some()
            {}
            return Ok(RequestJson::Deep);
        };
        let mut fields = Vec::new();
        while let Some(name) = map.next_key()? {
            fields.push((name, map.next_value_seed(Seed(inner))?));
        }
        Ok(RequestJson::Object(fields))
    }
}

/// A text of a query string, which is read as a number or a truth value if the type is one.
struct QueryText<'a>(&'a str);

macro_rules! parsed {
    ($($method:ident $visit:ident $type:ty, $expected:literal;)*) => { $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> std::result::Result<V::Value, ValueError> {
            match self.0.parse::<$type>() {
                Ok(value) => visitor.$visit(value),
                Err(_) => Err(ValueError::invalid_value(Unexpected::Str(self.0), &$expected)),
            }
        }
    )* };
}

impl<'de> Deserializer<'de> for QueryText<'_> {
    type Error = ValueError;

    parsed! {
        deserialize_bool visit_bool bool, "true or false";
        deserialize_i8 visit_i64 i64, "a whole number";
        deserialize_i16 visit_i64 i64, "a whole number";
        deserialize_i32 visit_i64 i64, "a whole number";
        deserialize_i64 visit_i64 i64, "a whole number";
        deserialize_u8 visit_u64 u64, "a whole number that is not negative";
        deserialize_u16 visit_u64 u64, "a whole number that is not negative";
        deserialize_u32 visit_u64 u64, "a whole number that is not negative";
        deserialize_u64 visit_u64 u64, "a whole number that is not negative";
        deserialize_f32 visit_f64 f64, "a number";
        deserialize_f64 visit_f64 f64, "a number";
    }

    fn deserialize_any<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> std::result::Result<V::Value, ValueError> {
        visitor.visit_str(self.0)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> std::result::Result<V::Value, ValueError> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        i128 u128 char str string bytes byte_buf option unit unit_struct seq tuple tuple_struct map struct enum
        identifier ignored_any
    }
}
