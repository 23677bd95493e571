//! The collections and indexes that models declare.

use bson::{Document, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, raw::CString};
use odm_mql::{
    self as mql, Collation, Direction, fold, key,
    path::{self, compound_index_values},
};

use super::IndexFilter;
use crate::error::{Error, ErrorKind, Result};

/// A collection as the models declare it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CollectionSpec {
    /// Its name.
    pub name: String,
    /// Its indexes, besides the one on `_id`.
    pub indexes: Vec<IndexSpec>,
    /// Indexes that were declared and are no longer. An index in both lists is not obsolete.
    pub obsolete: Vec<IndexSpec>,
    /// Its default collation, which [`Reader::default_collation`](crate::Reader::default_collation) returns. A new collection gets it. An
    /// existing one keeps its own: with another one here the store refuses it as a [`Schema`](ErrorKind::Schema) error, and `None` is no
    /// other one.
    pub collation: Option<Collation>,
}

/// A change of a whole collection, for [`Transaction::change_collections`](crate::Transaction::change_collections).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CollectionChange {
    /// Make an empty collection. An existing collection of the name is removed.
    Create {
        /// Its name.
        name: String,
        /// Its indexes, besides the one on `_id`.
        indexes: Vec<IndexSpec>,
        /// Its default collation.
        collation: Option<Collation>,
    },
    /// Give a collection the name of another one, which is removed. It keeps its indexes and its default collation.
    Replace {
        /// The collection.
        from: String,
        /// The name.
        to: String,
    },
    /// Remove a collection, if it is there.
    Drop {
        /// Its name.
        name: String,
    },
}

/// The schemas of the documents of a collection.
#[derive(Debug, Clone, PartialEq)]
pub struct CollectionValidator {
    /// The name of the collection.
    pub collection: String,
    /// Schemas in the form of `$jsonSchema`. A document conforms if it conforms to each.
    pub schemas: Vec<Document>,
    /// A nonconforming document is stored, and the store says so in its log.
    pub is_warning: bool,
}

/// An index as the models declare it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexSpec {
    /// Its name, unique in the collection, not empty and not `_id`.
    pub name: String,
    /// Its fields, in order.
    pub keys: Vec<(String, Direction)>,
    /// No two documents may have the same key. One document may have a key more than once.
    pub unique: bool,
    /// Documents in which one of the fields is missing or null have no entry, so that `unique` applies only to documents with all fields.
    /// Where fields meet an array in which only some elements have values, a store MAY take the missing values for null.
    pub present_only: bool,
    /// Texts that differ only in case are one key, by Unicode's simple case folding. A sort that [ignores
    /// case](odm_mql::Sort::ignoring_case) has their order. This applies to texts themselves, not to texts in a document that is the value
    /// of a field.
    pub case_insensitive: bool,
    /// Texts that are equal in the collation are one key, and the index has the order of [sorts](odm_mql::Sort::collated) with it. Its
    /// filter compares no texts, and it does not ignore case besides. A store without the
    /// [capability](crate::Capabilities::collations) refuses it as a [`Schema`](ErrorKind::Schema) error.
    pub collation: Option<Collation>,
    /// The condition on the documents in the index, so that `unique` applies only to documents that meet it.
    pub filter: Option<IndexFilter>,
}

impl IndexSpec {
    /// An index of these fields of all documents, which is not unique.
    pub fn new<P: Into<String>>(
        name: impl Into<String>,
        keys: impl IntoIterator<Item = (P, Direction)>,
    ) -> Self {
        IndexSpec {
            name: name.into(),
            keys: keys
                .into_iter()
                .map(|(path, direction)| (path.into(), direction))
                .collect(),
            unique: false,
            present_only: false,
            case_insensitive: false,
            collation: None,
            filter: None,
        }
    }

    /// Whether a document is in the index, if it has the values that a [`present_only`](IndexSpec::present_only) index requires.
    ///
    /// # Errors
    ///
    /// The errors of [`IndexFilter::matches`].
    pub fn includes(&self, document: &RawDocument) -> Result<bool> {
        match &self.filter {
            Some(filter) => filter.matches(document),
            None => Ok(true),
        }
    }

    /// Returns the keys that a document has in this index, each once. A key is a value for each
    /// field.
    ///
    /// A document has one key, or one for each element of an array that its fields meet, or no key if it does not match the filter of the
    /// index. A missing field has the value null, and an empty array the value undefined. Texts are folded if the index ignores case.
    /// In an index with a collation they are its keys, in hexadecimal digits, also within documents and arrays.
    ///
    /// # Errors
    ///
    /// [`InvalidUpdate`](crate::ErrorKind::InvalidUpdate) if the fields meet two arrays side by side.
    pub fn keys_of(&self, document: &RawDocument) -> Result<Vec<Vec<RawBson>>> {
        if !self.includes(document)? {
            return Ok(Vec::new());
        }
        let paths: Vec<&str> = self.keys.iter().map(|(path, _)| path.as_str()).collect();
        let mut keys = compound_index_values(document, &paths)?.keys;
        if self.present_only {
            keys.retain(|key| key.iter().copied().all(is_present));
        }
        let owned =
            |key: Vec<RawBsonRef<'_>>| key.into_iter().map(|value| self.stored(value)).collect();
        let mut keys: Vec<Vec<RawBson>> = keys.into_iter().map(owned).collect();
        keys.sort_by_cached_key(|values| encoded(values));
        keys.dedup_by_key(|values| encoded(values));
        Ok(keys)
    }

    /// The paths whose values decide which keys a document has.
    #[doc(hidden)]
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let keys = self.keys.iter().map(|(path, _)| path.as_str());
        keys.chain(self.filter.iter().flat_map(IndexFilter::paths))
    }

    /// Whether two images of a document have the same keys, because the values at the paths of the index are the same.
    #[doc(hidden)]
    pub fn is_unaffected(&self, before: &RawDocument, after: &RawDocument) -> bool {
        self.paths().all(|path| path::is_same(before, after, path))
    }

    /// The keys of a document as bytes. Equal keys have equal bytes.
    ///
    /// # Errors
    ///
    /// The errors of [`keys_of`](IndexSpec::keys_of).
    #[doc(hidden)]
    pub fn encoded_keys_of(&self, document: &RawDocument) -> Result<Vec<Vec<u8>>> {
        let keys = self.keys_of(document)?;
        Ok(keys.iter().map(|values| encoded(values)).collect())
    }

    /// A value in the form that it has in a key.
    fn stored(&self, value: RawBsonRef<'_>) -> RawBson {
        if let Some(collation) = &self.collation {
            return collated(collation, value);
        }
        match value {
            RawBsonRef::String(text) | RawBsonRef::Symbol(text) if self.case_insensitive => {
                RawBson::String(fold::text(text).into_owned())
            }
            value => value.into(),
        }
    }

    /// Appends a value to a key in bytes.
    #[doc(hidden)]
    pub fn encode(&self, value: RawBsonRef<'_>, direction: Direction, key: &mut Vec<u8>) {
        match &self.collation {
            None if self.case_insensitive => key::encode_folded(value, direction, key),
            collation => key::encode_directed_by(collation.as_ref(), value, direction, key),
        }
    }

    /// Returns the error of a key that another document has in this unique index. Its location has the path of the field, or the paths with
    /// commas between them, the key, which is a document if the index has several fields, and the index.
    ///
    /// The key of an index with a collation has the values of the document, whose sort keys nobody could read.
    pub fn duplicate_key(&self, collection: &str, key: &[RawBson]) -> Error {
        let folded = key.iter().map(|value| match &self.collation {
            Some(_) => value.clone(),
            None => self.stored(value.as_raw_bson_ref()),
        });
        let key = &*folded.collect::<Vec<RawBson>>();
        let fields: Vec<String> = (self.keys.iter().zip(key))
            .map(|((path, _), value)| {
                format!("`{path}` = {}", show_briefly(value.as_raw_bson_ref()))
            })
            .collect();
        let case = match &self.collation {
            Some(collation) => format!(" with the collation {collation}"),
            None if self.case_insensitive => " and ignores case".to_owned(),
            None => String::new(),
        };
        let among = match &self.filter {
            Some(filter) => format!(" among the documents with `{filter}`"),
            None => String::new(),
        };
        let message = format!(
            "duplicate key: `{collection}` already has a document with {}, and the index `{}` is unique{case}{among}",
            fields.join(", "),
            self.name
        );
        let value = match key {
            [value] => value.clone(),
            values => {
                let mut key = RawDocumentBuf::new();
                for ((path, _), value) in self.keys.iter().zip(values) {
                    if let Ok(path) = CString::try_from(path.clone()) {
                        key.append(path, value.clone());
                    }
                }
                RawBson::Document(key)
            }
        };
        let paths: Vec<&str> = self.keys.iter().map(|(path, _)| path.as_str()).collect();
        Error::new(ErrorKind::DuplicateKey, message)
            .at(collection, Some(&paths.join(", ")), Some(value))
            .of_index(&self.name)
    }
}

/// A value for messages.
#[doc(hidden)]
pub fn show_briefly(value: RawBsonRef<'_>) -> String {
    const LONGEST: usize = 100;
    let text = mql::show(value);
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Whether a value has an entry in an index of present values. Undefined is an empty array.
#[doc(hidden)]
pub fn is_present(value: RawBsonRef<'_>) -> bool {
    !matches!(value, RawBsonRef::Null | RawBsonRef::Undefined)
}

/// A value with the keys of a collation in the place of texts. Its depth is that of a stored document.
fn collated(collation: &Collation, value: RawBsonRef<'_>) -> RawBson {
    match value {
        RawBsonRef::String(text) | RawBsonRef::Symbol(text) => {
            let mut key = Vec::new();
            collation.encode(text, &mut key);
            let digits = key.iter().map(|byte| format!("{byte:02x}"));
            RawBson::String(digits.collect())
        }
        RawBsonRef::Document(document) => {
            let mut inner = RawDocumentBuf::new();
            for (name, value) in document.iter().flatten() {
                inner.append(name, collated(collation, value));
            }
            RawBson::Document(inner)
        }
        RawBsonRef::Array(array) => {
            let elements = array.into_iter().flatten();
            let elements = elements.map(|value| collated(collation, value));
            RawBson::Array(elements.collect())
        }
        value => value.into(),
    }
}

fn encoded(values: &[RawBson]) -> Vec<u8> {
    let values = values.iter().map(RawBson::as_raw_bson_ref);
    values.flat_map(key::of).collect()
}

#[cfg(test)]
mod tests {
    use bson::rawdoc;

    use super::*;

    fn keys(present_only: bool, document: &RawDocument) -> Vec<Vec<RawBson>> {
        let index = IndexSpec {
            name: "ab".to_owned(),
            keys: vec![
                ("a".to_owned(), Direction::Ascending),
                ("b.c".to_owned(), Direction::Descending),
            ],
            unique: false,
            present_only,
            case_insensitive: false,
            collation: None,
            filter: None,
        };
        index.keys_of(document).expect("one array at most")
    }

    #[test]
    fn a_document_has_a_key_for_each_different_element_of_an_array() {
        let document = rawdoc! { "a": 1, "b": [{ "c": 2 }, { "c": 2.0 }, {}] };
        let null = vec![RawBson::Int32(1), RawBson::Null];
        let two = vec![RawBson::Int32(1), RawBson::Int32(2)];
        assert_eq!(keys(false, &document), [null, two.clone()]);
        assert_eq!(keys(true, &document), [two]);
    }

    #[test]
    fn a_document_without_the_fields_has_a_key_of_nulls_unless_only_present_ones_count() {
        let document = rawdoc! { "b": 1 };
        assert_eq!(keys(false, &document), [[RawBson::Null, RawBson::Null]]);
        assert!(keys(true, &document).is_empty());
    }

    #[test]
    fn two_arrays_side_by_side_have_no_keys() {
        let index = IndexSpec {
            name: "ab".to_owned(),
            keys: vec![
                ("a".to_owned(), Direction::Ascending),
                ("b".to_owned(), Direction::Ascending),
            ],
            unique: false,
            present_only: false,
            case_insensitive: false,
            collation: None,
            filter: None,
        };
        let error = index.keys_of(&rawdoc! { "a": [1], "b": [2] }).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::InvalidUpdate);
    }
}
