//! Reading stored values as their types, and the path of a value that cannot be read.

mod decoder;

use bson::{RawBson, RawDeserializer, RawDocument, RawDocumentBuf};
use serde::{
    Serialize,
    de::{DeserializeOwned, Error as _},
};
use serde_path_to_error::{Path, Segment, Track};

pub(crate) use self::decoder::DATE_TIME;

/// The reason why a stored value cannot be read as its type, or a value not be stored.
#[derive(Debug, Clone)]
pub struct Unreadable {
    /// The dotted path, with the positions of elements as numbers: `parts.0.name`. It is empty for the whole value, and if the path is not
    /// known.
    pub path: String,
    /// The reason why it cannot be read.
    pub reason: String,
    /// The error of the decoder or encoder.
    pub source: bson::error::Error,
}

/// A function that tells whether a stored value can be read as a type.
pub type ReadCheck = fn(&RawDocument) -> Result<(), Box<Unreadable>>;

/// Reads a stored value as a type.
pub(crate) fn read<T: DeserializeOwned>(stored: &RawDocument) -> Result<T, Box<Unreadable>> {
    decoder::decode(stored.as_bytes()).or_else(|_| read_slowly(stored))
}

/// Reads one value as a type.
pub(crate) fn read_value<V: DeserializeOwned>(value: RawBson) -> Result<V, Box<Unreadable>> {
    #[derive(serde::Deserialize)]
    struct Single<V> {
        v: V,
    }
    let mut single = RawDocumentBuf::new();
    single.append(bson::raw::cstr!("v"), value);
    Ok(read::<Single<V>>(&single)?.v)
}

/// Reads every value that `bson` can read, and tracks the path to a value that it cannot.
///
/// The type gets an erased deserializer: generating code for the dozen maps of `bson`, each with and without the tracking, took half of the
/// compile time of a program with many models.
#[cold]
fn read_slowly<T: DeserializeOwned>(stored: &RawDocument) -> Result<T, Box<Unreadable>> {
    let mut value = None;
    follow(stored, &mut |document| {
        value = Some(T::deserialize(document)?);
        Ok(())
    })?;
    Ok(value.expect("a value was read"))
}

/// Reads with a function, and tracks the path to a value that it cannot read.
fn follow(
    stored: &RawDocument,
    read: &mut dyn FnMut(
        &mut dyn erased_serde::Deserializer<'_>,
    ) -> Result<(), erased_serde::Error>,
) -> Result<(), Box<Unreadable>> {
    let document = RawDeserializer::new(stored.as_bytes());
    let document = document.map_err(|error| Unreadable::new(String::new(), error))?;
    // Erased within the tracking too, whose code would be generated for the dozen deserializers of `bson` again.
    let document = &mut <dyn erased_serde::Deserializer<'_>>::erase(document);
    let mut track = Track::new();
    let document = serde_path_to_error::Deserializer::new(
        document as &mut dyn erased_serde::Deserializer<'_>,
        &mut track,
    );
    let read = read(&mut <dyn erased_serde::Deserializer<'_>>::erase(document));
    read.map_err(|error| {
        let reason = innermost(error.to_string());
        Unreadable::new(dotted(&track.path()), bson::error::Error::custom(reason))
    })
}

/// The text of an error without the words that `bson` puts around it at each level of a value.
fn innermost(mut text: String) -> String {
    let words = bson::error::Error::custom('\0').to_string();
    if let Some((before, after)) = words.split_once('\0') {
        while let Some(rest) = text.strip_prefix(before)
            && let Some(inner) = rest.strip_suffix(after)
        {
            text = inner.to_owned();
        }
    }
    text
}

/// Tells whether a stored value can be read as a type.
#[doc(hidden)]
pub fn check_readable<T: DeserializeOwned>(stored: &RawDocument) -> Result<(), Box<Unreadable>> {
    read::<T>(stored).map(drop)
}

/// Tells why a value, whose encoder failed, cannot be stored.
pub(crate) fn unstorable<T: Serialize + ?Sized>(
    value: &T,
    error: bson::error::Error,
) -> Box<Unreadable> {
    let again = serde_path_to_error::serialize(value, bson::Serializer::new());
    let path = again.err().map(|failed| dotted(failed.path()));
    Unreadable::new(path.unwrap_or_default(), error)
}

impl Unreadable {
    #[cold]
    fn new(path: String, source: bson::error::Error) -> Box<Self> {
        let text = source.message.clone();
        let text = text.unwrap_or_else(|| source.kind.to_string());
        let mut unreadable = Unreadable {
            path,
            reason: text,
            source,
        };
        unreadable.reword();
        Box::new(unreadable)
    }

    /// Rewords the message of serde in the terms of documents, and moves the name of a missing field to the path.
    fn reword(&mut self) {
        let text = self.reason.as_str();
        let missing = text.strip_prefix("missing field `");
        if let Some(name) = missing.and_then(|rest| rest.strip_suffix('`')) {
            self.path = match self.path.as_str() {
                "" => name.to_owned(),
                path => format!("{path}.{name}"),
            };
            self.reason = "the field is missing".to_owned();
        } else {
            self.reason = reworded(text);
        }
    }

    /// Adds the name of the field that holds the value.
    #[must_use]
    pub(crate) fn within(mut self: Box<Self>, field: &str) -> Box<Self> {
        self.path = match self.path.as_str() {
            "" => field.to_owned(),
            path => format!("{field}.{path}"),
        };
        self
    }

    /// The path, if it is known.
    pub(crate) fn path(&self) -> Option<&str> {
        Some(self.path.as_str()).filter(|path| !path.is_empty())
    }
}

/// Rewords the message of serde about a value of another type in the terms of documents.
pub(super) fn reworded(text: &str) -> String {
    let mistyped = text.strip_prefix("invalid type: ");
    let mistyped = mistyped.or_else(|| text.strip_prefix("invalid value: "));
    let Some((found, expected)) = mistyped.and_then(|rest| rest.rsplit_once(", expected ")) else {
        return text.to_owned();
    };
    let found = match found {
        "map" => "a document",
        "sequence" => "an array",
        "unit value" | "Option value" => "null",
        found => found,
    };
    format!("expected {expected}, found {found}")
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(path) = self.path() {
            write!(f, "`{path}`: ")?;
        }
        f.write_str(&self.reason)
    }
}

fn dotted(path: &Path) -> String {
    let names = path.iter().map_while(|segment| match segment {
        Segment::Seq { index } => Some(index.to_string()),
        Segment::Map { key } => Some(key.clone()),
        Segment::Enum { variant } => Some(variant.clone()),
        Segment::Unknown => None,
    });
    names.collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bson::rawdoc;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Serialize, Deserialize)]
    struct Shelf {
        best: Vec<Book>,
        #[serde(default)]
        by_name: BTreeMap<String, Option<Book>>,
        #[serde(default)]
        form: Option<Form>,
    }

    #[derive(Debug, Serialize, Deserialize)]
    struct Book {
        title: String,
        pages: u64,
    }

    #[derive(Debug, Serialize, Deserialize)]
    enum Form {
        Box { width: i8 },
    }

    fn why(stored: &RawDocument) -> String {
        read::<Shelf>(stored).unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_read_is_named_by_its_path() {
        let book = |title: &str| rawdoc! { "title": title, "pages": 1 };
        let wrong = rawdoc! { "best": [book("a"), { "title": 3, "pages": 1 }] };
        assert_eq!(
            why(&wrong),
            "`best.1.title`: expected a string, found integer `3`"
        );
        let missing = rawdoc! { "best": [{ "pages": 1 }] };
        assert_eq!(why(&missing), "`best.0.title`: the field is missing");
        assert_eq!(why(&rawdoc! {}), "`best`: the field is missing");
        let null = rawdoc! { "best": bson::RawBson::Null };
        assert_eq!(why(&null), "`best`: expected a sequence, found null");
        let in_map = rawdoc! { "best": [], "by_name": { "x": { "title": "t", "pages": -1 } } };
        assert_eq!(
            why(&in_map),
            "`by_name.x.pages`: expected u64, found integer `-1`"
        );
        let in_enum = rawdoc! { "best": [], "form": { "Box": { "width": 200 } } };
        assert_eq!(
            why(&in_enum),
            "`form.Box.width`: expected i8, found integer `200`"
        );
        assert!(read::<Shelf>(&rawdoc! { "best": [book("a")] }).is_ok());
    }

    #[test]
    fn what_cannot_be_stored_is_named_by_its_path() {
        let book = |pages| Book {
            title: "t".into(),
            pages,
        };
        let shelf = Shelf {
            best: vec![book(1), book(u64::MAX)],
            by_name: BTreeMap::new(),
            form: None,
        };
        let error = bson::serialize_to_vec(&shelf).unwrap_err();
        let text = unstorable(&shelf, error).to_string();
        assert!(text.starts_with("`best.1.pages`: "), "{text}");
    }
}
