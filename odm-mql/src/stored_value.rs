//! Values of the types of `bson` in the documents that the library writes for itself, for serde's `with`.
//!
//! The types themselves write and request maps in a dozen forms, for which the compiler generates more code than for all other values.

use std::fmt;

use bson::{
    Bson, DateTime, Document, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, error::Result,
};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, Visitor},
    ser,
};

/// The name of the newtype by which a value of any type is requested. `decode` of `odm-store` passes it as a document; other deserializers
/// read it as `bson` does.
pub const NAME: &str = "$__odm_stored_value";

/// Writes a value.
pub fn serialize<T: StoredValue, S: Serializer>(
    value: &T,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    let value = value.raw().map_err(ser::Error::custom)?;
    value.serialize(serializer)
}

/// Reads a value.
pub fn deserialize<'de, T: StoredValue, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<T, D::Error> {
    let value = deserializer.deserialize_newtype_struct(NAME, FieldVisitor)?;
    let found = T::of(value.as_raw_bson_ref());
    found.ok_or_else(|| de::Error::custom(format_args!("a value has the wrong type: {value:?}")))
}

/// A type of values that are stored in this way.
pub trait StoredValue: Sized {
    /// The value, if it is one of this type.
    fn of(value: RawBsonRef<'_>) -> Option<Self>;

    /// The value as it is stored.
    fn raw(&self) -> Result<RawBson>;
}

impl StoredValue for RawBson {
    fn of(value: RawBsonRef<'_>) -> Option<Self> {
        Some(value.into())
    }

    fn raw(&self) -> Result<RawBson> {
        Ok(self.clone())
    }
}

impl StoredValue for Bson {
    fn of(value: RawBsonRef<'_>) -> Option<Self> {
        value.try_into().ok()
    }

    fn raw(&self) -> Result<RawBson> {
        self.clone().try_into()
    }
}

impl StoredValue for RawDocumentBuf {
    fn of(value: RawBsonRef<'_>) -> Option<Self> {
        value.as_document().map(RawDocument::to_owned)
    }

    fn raw(&self) -> Result<RawBson> {
        Ok(self.clone().into())
    }
}

impl StoredValue for Document {
    fn of(value: RawBsonRef<'_>) -> Option<Self> {
        value.as_document()?.try_into().ok()
    }

    fn raw(&self) -> Result<RawBson> {
        RawDocumentBuf::try_from(self).map(Into::into)
    }
}

impl StoredValue for DateTime {
    fn of(value: RawBsonRef<'_>) -> Option<Self> {
        value.as_datetime()
    }

    fn raw(&self) -> Result<RawBson> {
        Ok(RawBson::DateTime(*self))
    }
}

/// `None` is null.
impl<T: StoredValue> StoredValue for Option<T> {
    fn of(value: RawBsonRef<'_>) -> Option<Self> {
        match value {
            RawBsonRef::Null => Some(None),
            value => T::of(value).map(Some),
        }
    }

    fn raw(&self) -> Result<RawBson> {
        self.as_ref().map_or(Ok(RawBson::Null), T::raw)
    }
}

/// Reads a value that is passed as the only field of a document, or as it is.
struct FieldVisitor;

impl<'de> Visitor<'de> for FieldVisitor {
    type Value = RawBson;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a stored value")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<RawBson, D::Error> {
        RawBson::deserialize(deserializer)
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> std::result::Result<RawBson, E> {
        let document = RawDocument::from_bytes(bytes).map_err(E::custom)?;
        match document.iter().next() {
            Some(Ok((_, value))) => Ok(value.into()),
            _ => Err(E::invalid_length(0, &self)),
        }
    }
}
