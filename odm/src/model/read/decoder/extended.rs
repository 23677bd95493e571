//! Values for which serde has no type, in the forms of `bson`: maps as in extended JSON.

use base64::{Engine, engine::general_purpose::STANDARD};
use bson::{oid::ObjectId, spec::BinarySubtype};
use serde::{
    Deserializer,
    de::{DeserializeSeed, MapAccess, Visitor, value::MapAccessDeserializer},
    forward_to_deserialize_any,
};

use super::{Failed, give_up};

/// A map of one or two fields.
pub(super) struct Extended<'de> {
    first: Option<(&'static str, ExtendedPart<'de>)>,
    second: Option<(&'static str, ExtendedPart<'de>)>,
    /// The value of the field whose name was read last.
    value: Option<ExtendedPart<'de>>,
}

struct ExtendedPart<'de> {
    form: Form<'de>,
    /// Whether a newtype can be read from it.
    newtypes: bool,
}

enum Form<'de> {
    Name(&'static str),
    Text(String),
    Bytes(&'de [u8]),
    Map(Box<Extended<'de>>),
}

/// Passes a map to a visitor in erased form: few types read it, but code would be generated for each type.
pub(super) fn visit<'de, V: Visitor<'de>>(
    visitor: V,
    map: Extended<'de>,
) -> Result<V::Value, Failed> {
    let map = MapAccessDeserializer::new(map);
    let map: &mut dyn erased_serde::Deserializer<'de> =
        &mut <dyn erased_serde::Deserializer<'de>>::erase(map);
    map.deserialize_any(visitor).map_err(|_| Failed)
}

impl<'de> Extended<'de> {
    pub(super) fn object_id(bytes: [u8; 12]) -> Self {
        let hex = Form::Text(ObjectId::from_bytes(bytes).to_hex());
        Extended::one("$oid", hex, false)
    }

    pub(super) fn date_time(millis: [u8; 8]) -> Self {
        let millis = Form::Text(i64::from_le_bytes(millis).to_string());
        let long = Extended::one("$numberLong", millis, true);
        Extended::one("$date", Form::Map(Box::new(long)), true)
    }

    pub(super) fn decimal128(bytes: &'de [u8]) -> Self {
        Extended::one("$numberDecimalBytes", Form::Bytes(bytes), false)
    }

    pub(super) fn binary(subtype: BinarySubtype, bytes: &'de [u8]) -> Self {
        let subtype = Form::Text(format!("{:02x}", u8::from(subtype)));
        let mut binary = Extended::one("subType", subtype, false);
        let form = Form::Text(STANDARD.encode(bytes));
        let newtypes = false;
        binary.second = Some(("base64", ExtendedPart { form, newtypes }));
        Extended::one("$binary", Form::Map(Box::new(binary)), false)
    }

    fn one(name: &'static str, form: Form<'de>, newtypes: bool) -> Self {
        Extended {
            first: Some((name, ExtendedPart { form, newtypes })),
            second: None,
            value: None,
        }
    }
}

impl<'de> MapAccess<'de> for Extended<'de> {
    type Error = Failed;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Failed> {
        if self.value.is_some() {
            return Err(give_up());
        }
        let next = std::mem::replace(&mut self.first, self.second.take());
        let Some((name, value)) = next else {
            return Ok(None);
        };
        self.value = Some(value);
        let name = ExtendedPart {
            form: Form::Name(name),
            newtypes: true,
        };
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Failed> {
        let value = self.value.take().ok_or_else(give_up)?;
        // After an error `bson` goes on with the fields of the inner map.
        seed.deserialize(value).map_err(|_| give_up())
    }
}

impl Drop for Extended<'_> {
    /// If a type did not read the whole map, `bson` may treat the rest as if it came after the map.
    fn drop(&mut self) {
        if self.first.is_some() || self.value.is_some() {
            give_up();
        }
    }
}

impl<'de> Deserializer<'de> for ExtendedPart<'de> {
    type Error = Failed;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        match self.form {
            Form::Name(name) => visitor.visit_borrowed_str(name),
            Form::Text(text) => visitor.visit_string(text),
            Form::Bytes(bytes) => visitor.visit_bytes(bytes),
            Form::Map(map) => visitor.visit_map(*map),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failed> {
        match self.newtypes {
            true => visitor.visit_newtype_struct(self),
            false => self.deserialize_any(visitor),
        }
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string
        bytes byte_buf option unit unit_struct seq tuple
        tuple_struct map struct enum identifier ignored_any
    }
}
