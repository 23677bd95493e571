//! The form in which clients see documents.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, SeqAccess, Visitor},
    ser::{Error as _, SerializeMap},
};

use super::{Container, FieldShape, Shape, Structure};

/// A document, an embedded value or a projection as clients see it: it is serialized, as to JSON, without the fields that are marked
/// `#[public(skip)]`, and with fields that are marked `#[public(rename = "..")]` under that name, also in embedded values, cold parts,
/// subsets and copies. The marks do not change the stored form.
///
/// So an API can show the model itself, and a view adds further fields by `#[serde(flatten)]`.
///
/// ```
/// use odm::{Public, prelude::*};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, Document)]
/// #[document(collection = "users")]
/// struct User {
///     #[serde(rename = "_id")]
///     #[public(rename = "id")]
///     id: i64,
///     name: String,
///     #[public(skip)]
///     password_hash: String,
/// }
///
/// let user = User { id: 1, name: "ann".into(), password_hash: "5ebe22".into() };
/// assert_eq!(serde_json::to_string(&Public(user))?, r#"{"id":1,"name":"ann"}"#);
///
/// // A request names the fields that clients see, by the names that they see.
/// assert!(User::filter_from_query([("id", "1")]).is_ok());
/// assert!(User::filter_from_query([("password_hash", "5ebe22")]).is_err());
/// # Ok::<_, serde_json::Error>(())
/// ```
///
/// The value is serialized as JSON first, so it has its JSON forms in every format. A value without a JSON form is an error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Public<T>(pub T);

impl<T: Structure + Serialize> Serialize for Public<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = serde_json::to_vec(&self.0).map_err(S::Error::custom)?;
        let mut json: Json = serde_json::from_slice(&json).map_err(S::Error::custom)?;
        json.show(T::shape());
        json.serialize(serializer)
    }
}

/// JSON with its fields in their order.
enum Json {
    Null,
    Bool(bool),
    Integer(i64),
    Unsigned(u64),
    Float(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Removes the hidden fields of a value with these fields, or of each value in a list.
    fn show(&mut self, shape: &Shape) {
        match self {
            Json::List(values) => values.iter_mut().for_each(|value| value.show(shape)),
            Json::Object(fields) => fields.retain_mut(|(name, value)| show(shape, name, value)),
            _ => {}
        }
    }

    /// Does so for the values of a map, or of each map in a list.
    fn show_entries(&mut self, shape: &Shape) {
        match self {
            Json::List(maps) => maps.iter_mut().for_each(|map| map.show_entries(shape)),
            Json::Object(entries) => entries.iter_mut().for_each(|(_, value)| value.show(shape)),
            _ => {}
        }
    }
}

/// Removes the hidden fields in the value of a field, and returns whether clients see the field. Variants of an enum can share a name,
/// which is hidden if it is hidden in one of them.
fn show(shape: &Shape, name: &mut String, value: &mut Json) -> bool {
    let mut public = None;
    for field in fields(shape, name) {
        let Some(shown) = field.public else {
            return false;
        };
        if let Some(inner) = field.inner() {
            match inner.container {
                Container::Map => value.show_entries((inner.shape)()),
                _ => value.show((inner.shape)()),
            }
        }
        public = Some(shown);
    }
    if let Some(shown) = public.filter(|shown| shown != name) {
        shown.clone_into(name);
    }
    true
}

/// The fields that are stored under a name, one for each variant that has it. All fields of a hidden value are hidden.
fn fields(shape: &Shape, name: &str) -> Vec<FieldShape> {
    let mut found = Vec::new();
    for field in shape.fields {
        match field.inner().filter(|_| field.name.is_empty()) {
            Some(inner) => {
                let within = fields((inner.shape)(), name).into_iter();
                found.extend(within.map(|within| match field.public {
                    Some(_) => within,
                    None => within.hidden(),
                }));
            }
            None if field.name == name => found.push(*field),
            None => {}
        }
    }
    found
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(value) => serializer.serialize_bool(*value),
            Json::Integer(value) => serializer.serialize_i64(*value),
            Json::Unsigned(value) => serializer.serialize_u64(*value),
            Json::Float(value) => serializer.serialize_f64(*value),
            Json::Text(value) => serializer.serialize_str(value),
            Json::List(values) => serializer.collect_seq(values),
            Json::Object(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (name, value) in fields {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(AnyJson)
    }
}

struct AnyJson;

impl<'de> Visitor<'de> for AnyJson {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Unsigned(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = seq.next_element()? {
            values.push(value);
        }
        Ok(Json::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Json::Object(fields))
    }
}
