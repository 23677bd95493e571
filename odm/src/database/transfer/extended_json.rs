//! Documents as canonical extended JSON, in which each value shows its type.

mod read;

use bson::{Bson, RawBsonRef, RawDocument, RawDocumentBuf};
pub(crate) use read::ExportedDocument;
pub(super) use read::ForeignDocument;
use serde::{
    Serialize, Serializer,
    ser::{Error as _, SerializeMap, SerializeSeq},
};

use odm_store::{Error, ErrorKind, Result, show};

/// The nesting depth up to which common readers of JSON accept a document.
const DEEPEST: usize = 100;

/// A document that serializes as canonical extended JSON, with its fields in their order.
pub(crate) struct Canonical<'a>(pub(crate) &'a RawDocument);

impl Serialize for Canonical<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for element in self.0 {
            let (name, value) = element.map_err(S::Error::custom)?;
            map.serialize_entry(name.as_str(), &CanonicalValue(value))?;
        }
        map.end()
    }
}

struct CanonicalValue<'a>(RawBsonRef<'a>);

impl Serialize for CanonicalValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self.0 {
            RawBsonRef::Document(document) => Canonical(document).serialize(serializer),
            RawBsonRef::Array(array) => {
                let mut list = serializer.serialize_seq(None)?;
                for element in array {
                    let element = element.map_err(S::Error::custom)?;
                    list.serialize_element(&CanonicalValue(element))?;
                }
                list.end()
            }
            RawBsonRef::String(text) => serializer.serialize_str(text),
            RawBsonRef::Int32(number) => typed(serializer, "$numberInt", &number.to_string()),
            RawBsonRef::Int64(number) => typed(serializer, "$numberLong", &number.to_string()),
            // `bson` writes no text for a number near 0 that reads back as the same number.
            RawBsonRef::Double(number) => typed(serializer, "$numberDouble", &double(number)),
            RawBsonRef::JavaScriptCodeWithScope(code) => {
                let mut map = serializer.serialize_map(Some(2))?;
                map.serialize_entry("$code", code.code)?;
                map.serialize_entry("$scope", &Canonical(code.scope))?;
                map.end()
            }
            scalar => {
                let scalar = Bson::try_from(scalar).map_err(S::Error::custom)?;
                scalar.into_canonical_extjson().serialize(serializer)
            }
        }
    }
}

fn typed<S: Serializer>(
    serializer: S,
    name: &str,
    value: &str,
) -> std::result::Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(name, value)?;
    map.end()
}

fn double(number: f64) -> String {
    match number {
        f64::INFINITY => "Infinity".to_owned(),
        f64::NEG_INFINITY => "-Infinity".to_owned(),
        number => format!("{number:?}"),
    }
}

/// Refuses a document that would not be read back unchanged: if it is nested too deeply, or has a name that is taken for a type.
pub(super) fn check_read_back(collection: &str, document: &RawDocument) -> Result<()> {
    if !is_doubtful(document, 1)? {
        return Ok(());
    }
    let read = serde_json::to_vec(&Canonical(document))
        .and_then(|json| serde_json::from_slice::<ExportedDocument>(&json));
    let is_same = match &read {
        Ok(ExportedDocument(read)) => {
            let read = RawDocumentBuf::try_from(read).map_err(Error::malformed)?;
            read.as_bytes() == document.as_bytes()
        }
        Err(_) => false,
    };
    if is_same {
        return Ok(());
    }
    let id = document.get("_id").ok().flatten().map(Into::into);
    let message = format!(
        "export refused: the document of `{collection}` with `_id` = {} would not be read back as it is, since \
         it has a name that is a type of extended JSON, such as `$date`, or is nested over {DEEPEST} levels deep",
        id.as_ref().map(show).unwrap_or_default()
    );
    Err(Error::new(ErrorKind::Encode, message).at(collection, None, id))
}

/// Whether a document is deep, or has a name that begins like the name of a type.
fn is_doubtful(document: &RawDocument, depth: usize) -> Result<bool> {
    if depth > DEEPEST {
        return Ok(true);
    }
    for element in document {
        let (name, value) = element.map_err(Error::malformed)?;
        let is_doubtful = name.as_str().starts_with('$')
            || match value {
                RawBsonRef::Document(inner) => is_doubtful(inner, depth + 1)?,
                RawBsonRef::Array(array) => is_doubtful(
                    RawDocument::from_bytes(array.as_bytes()).map_err(Error::malformed)?,
                    depth + 1,
                )?,
                _ => false,
            };
        if is_doubtful {
            return Ok(true);
        }
    }
    Ok(false)
}
