//! The entries of a document in an index.

use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

use super::{layout::begin, schema::Index};
use crate::{
    error::{Error, ErrorKind, Result},
    mql::{
        Direction, key,
        path::{Lookup, compound_index_values, lookup},
    },
};

/// The entries of a document in an index.
#[derive(Debug, Default)]
pub(super) struct Entries {
    /// The keys of the entries, in ascending order, each once.
    pub(super) keys: Vec<Vec<u8>>,
    /// For each field, whether it met an array. Empty if no field did.
    pub(super) multikey: Vec<bool>,
}

impl Entries {
    /// Computes the entries of a document. `id` is the key of its `_id`.
    pub(super) fn for_document(
        index: &Index,
        document: &RawDocument,
        id: &[u8],
    ) -> Result<Entries> {
        let mut entries = Entries::default();
        let mut key = begin(index.tree);
        let mut present = true;
        for (path, direction) in &index.spec.keys {
            match lookup(document, path) {
                Lookup::Value(value) => present &= append(value, *direction, &mut key),
                Lookup::Missing => present &= append(RawBsonRef::Null, *direction, &mut key),
                Lookup::Array(..) => return Entries::for_arrays(index, document, id),
            }
        }
        if present || !index.spec.present_only {
            entries.keys.push(finish(key, index, id));
        }
        Ok(entries)
    }

    fn for_arrays(index: &Index, document: &RawDocument, id: &[u8]) -> Result<Entries> {
        let paths: Vec<&str> = index
            .spec
            .keys
            .iter()
            .map(|(path, _)| path.as_str())
            .collect();
        let values = compound_index_values(document, &paths)?;
        let mut keys = Vec::with_capacity(values.keys.len());
        for values in values.keys {
            let mut key = begin(index.tree);
            let mut present = true;
            for (value, (_, direction)) in values.into_iter().zip(&index.spec.keys) {
                present &= append(value, *direction, &mut key);
            }
            if present || !index.spec.present_only {
                keys.push(finish(key, index, id));
            }
        }
        keys.sort_unstable();
        keys.dedup();
        Ok(Entries {
            keys,
            multikey: values.multikey,
        })
    }

    /// The keys that are not in `other`.
    pub(super) fn without<'a>(&'a self, other: &'a Entries) -> impl Iterator<Item = &'a Vec<u8>> {
        self.keys
            .iter()
            .filter(|key| other.keys.binary_search(key).is_err())
    }
}

/// Appends a value to a key, and returns whether the value is present.
fn append(value: RawBsonRef<'_>, direction: Direction, key: &mut Vec<u8>) -> bool {
    key::encode_directed(value, direction, key);
    // An empty array counts as undefined.
    !matches!(value, RawBsonRef::Null | RawBsonRef::Undefined)
}

fn finish(mut key: Vec<u8>, index: &Index, id: &[u8]) -> Vec<u8> {
    if !index.spec.unique {
        key.extend_from_slice(id);
    }
    key
}

/// The error of a key that a unique index already has.
#[cold]
pub(super) fn duplicate(
    collection: &str,
    index: &Index,
    document: &RawDocument,
    taken: &[u8],
) -> Error {
    let paths: Vec<&str> = index
        .spec
        .keys
        .iter()
        .map(|(path, _)| path.as_str())
        .collect();
    let keys = compound_index_values(document, &paths).map(|values| values.keys);
    // The values of the entry, which are elements if the document has an array.
    let values = keys.unwrap_or_default().into_iter().find(|values| {
        let mut key = begin(index.tree);
        for (value, (_, direction)) in values.iter().zip(&index.spec.keys) {
            append(*value, *direction, &mut key);
        }
        key == taken
    });
    let values = values.unwrap_or_default();
    let words: Vec<String> = paths
        .iter()
        .zip(&values)
        .map(|(path, value)| format!("`{path}` = {}", show(*value)))
        .collect();
    let value = match values.as_slice() {
        [value] => RawBson::from(*value),
        values => {
            let mut key = RawDocumentBuf::new();
            for (path, value) in paths.iter().zip(values) {
                if let Ok(path) = bson::raw::CString::try_from((*path).to_owned()) {
                    key.append(path, *value);
                }
            }
            RawBson::Document(key)
        }
    };
    let message = format!(
        "duplicate key: `{collection}` already has a document with {}, and the index `{}` is unique",
        words.join(", "),
        index.spec.name
    );
    Error::new(ErrorKind::DuplicateKey, message).at(collection, Some(&index.spec.name), Some(value))
}

/// A value for messages.
pub(super) fn show(value: RawBsonRef<'_>) -> String {
    const LONGEST: usize = 100;
    let text = match bson::Bson::try_from(value) {
        Ok(value) => value.to_string(),
        Err(_) => "a malformed value".to_owned(),
    };
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
