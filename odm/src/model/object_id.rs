//! The id type of MongoDB.

use std::{fmt, str::FromStr};

use bson::RawBson;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use odm_store::{Error, ErrorKind};

/// A 12-byte id: 4 bytes of time, 5 random bytes, 3 of a counter.
///
/// It is native in BSON, and 24 hexadecimal digits in JSON and other text formats. `bson::serialize_to_bson` and
/// `serialize_to_document` write the text, since they report themselves as human readable; `serialize_to_raw_document_buf` and
/// `serialize_to_vec` write the stored form.
///
/// ```
/// use odm::bson::{doc, serialize_to_document, serialize_to_raw_document_buf};
/// use serde::Serialize;
///
/// let id = odm::ObjectId::new();
/// assert_eq!(serde_json::to_string(&id).unwrap(), format!("\"{id}\""));
/// assert_eq!(id, id.to_string().parse().unwrap());
///
/// #[derive(Serialize)]
/// struct Part {
///     #[serde(rename = "_id")]
///     id: odm::ObjectId,
/// }
/// let stored = serialize_to_raw_document_buf(&Part { id }).unwrap();
/// assert_eq!(stored.get_object_id("_id").unwrap(), id.into());
/// let text = serialize_to_document(&Part { id }).unwrap();
/// assert_eq!(text, doc! { "_id": id.to_string() });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(bson::oid::ObjectId);

impl ObjectId {
    /// A new id, different from all others.
    ///
    /// ```
    /// use odm::ObjectId;
    ///
    /// let (first, second) = (ObjectId::new(), ObjectId::new());
    /// assert!(first != second && first.to_string().len() == 24);
    /// ```
    #[expect(clippy::new_without_default, reason = "two defaults would differ")]
    pub fn new() -> Self {
        ObjectId(bson::oid::ObjectId::new())
    }

    /// The id with these bytes.
    ///
    /// ```
    /// use odm::ObjectId;
    ///
    /// // The same in each run, as for the documents of a test.
    /// const ADMIN: ObjectId = ObjectId::from_bytes([0; 12]);
    /// assert_eq!(ADMIN.to_string(), "000000000000000000000000");
    /// ```
    pub const fn from_bytes(bytes: [u8; 12]) -> Self {
        ObjectId(bson::oid::ObjectId::from_bytes(bytes))
    }

    /// Its bytes.
    ///
    /// ```
    /// let id = odm::ObjectId::new();
    /// assert_eq!(odm::ObjectId::from_bytes(id.bytes()), id);
    /// ```
    pub const fn bytes(&self) -> [u8; 12] {
        self.0.bytes()
    }

    /// When it was made, to the second.
    ///
    /// ```
    /// use odm::{DateTime, ObjectId};
    ///
    /// // When the document was made, without a field for it.
    /// let id: ObjectId = "53b5ac00e4b0c9f1f1a1a1a1".parse()?;
    /// assert_eq!(id.timestamp(), "2014-07-03T19:16:16Z".parse::<DateTime>()?);
    /// # Ok::<_, odm::Error>(())
    /// ```
    pub fn timestamp(&self) -> super::DateTime {
        self.0.timestamp().into()
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectId({})", self.0.to_hex())
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_hex())
    }
}

impl FromStr for ObjectId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        bson::oid::ObjectId::parse_str(text)
            .map(ObjectId)
            .map_err(|error| {
                Error::new(
                    ErrorKind::Decode,
                    format!("`{text}` is not an id of 24 hexadecimal digits"),
                )
                .with_source(error)
            })
    }
}

impl From<bson::oid::ObjectId> for ObjectId {
    fn from(id: bson::oid::ObjectId) -> Self {
        ObjectId(id)
    }
}

impl From<ObjectId> for bson::oid::ObjectId {
    fn from(id: ObjectId) -> Self {
        id.0
    }
}

impl From<ObjectId> for bson::Bson {
    fn from(id: ObjectId) -> Self {
        bson::Bson::ObjectId(id.0)
    }
}

impl From<ObjectId> for RawBson {
    fn from(id: ObjectId) -> Self {
        RawBson::ObjectId(id.0)
    }
}

impl Serialize for ObjectId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.serialize_str(&self.0.to_hex())
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for ObjectId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl<'de> de::Visitor<'de> for Visitor {
            type Value = ObjectId;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an id of 24 hexadecimal digits")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<ObjectId, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<ObjectId, E> {
                let bytes = bytes
                    .try_into()
                    .map_err(|_| E::invalid_length(bytes.len(), &"12 bytes"))?;
                Ok(ObjectId::from_bytes(bytes))
            }

            // BSON that serde buffers, for a flattened struct or an enum that is not externally tagged, comes as extended JSON from a
            // deserializer that reports itself as human readable.
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<ObjectId, A::Error> {
                bson::oid::ObjectId::deserialize(de::value::MapAccessDeserializer::new(map))
                    .map(ObjectId)
            }
        }

        if deserializer.is_human_readable() {
            deserializer.deserialize_any(Visitor)
        } else {
            deserializer.deserialize_bytes(Visitor)
        }
    }
}
