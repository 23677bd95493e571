//! The entries of a document in an index.

use bson::{RawBson, RawBsonRef, RawDocument};
use odm_mql::{
    Direction,
    key::Types,
    path::{Lookup, compound_index_values, lookup},
};
use odm_store::{Error, Result, is_present};

use super::{layout::new_key, schema::Index};

/// The entries of a document in an index.
#[derive(Debug, Default)]
pub(super) struct IndexEntries {
    /// The keys of the entries, in ascending order, each once.
    pub(super) keys: Vec<Vec<u8>>,
    /// For each field, whether it met an array. Empty if no field did.
    pub(super) multikey: Vec<bool>,
    /// For each field, the types that the index did not have. Empty if there are none, or if a field met an array.
    pub(super) new_types: Vec<Types>,
}

impl IndexEntries {
    /// Computes the entries of a document. `id` is the key of its `_id`.
    pub(super) fn for_document(
        index: &Index,
        document: &RawDocument,
        id: &[u8],
    ) -> Result<IndexEntries> {
        let mut entries = IndexEntries::default();
        if !index.spec.includes(document)? {
            return Ok(entries);
        }
        let mut key = new_key();
        let mut present = true;
        for (at, (path, direction)) in index.spec.keys.iter().enumerate() {
            let value = match lookup(document, path) {
                Lookup::Value(value) => value,
                Lookup::Missing => RawBsonRef::Null,
                Lookup::Array(..) => return IndexEntries::for_arrays(index, document, id),
            };
            let types = Types::of(value);
            if !index.types[at].contains(types) {
                entries.new_types.resize(index.types.len(), Types::NONE);
                entries.new_types[at] = types;
            }
            present &= append(index, value, *direction, &mut key);
        }
        if present || !index.spec.present_only {
            entries.keys.push(finish(key, index, id));
        }
        Ok(entries)
    }

    fn for_arrays(index: &Index, document: &RawDocument, id: &[u8]) -> Result<IndexEntries> {
        let paths: Vec<&str> = index
            .spec
            .keys
            .iter()
            .map(|(path, _)| path.as_str())
            .collect();
        let values = compound_index_values(document, &paths)?;
        let mut keys = Vec::with_capacity(values.keys.len());
        for values in values.keys {
            let mut key = new_key();
            let mut present = true;
            for (value, (_, direction)) in values.into_iter().zip(&index.spec.keys) {
                present &= append(index, value, *direction, &mut key);
            }
            if present || !index.spec.present_only {
                keys.push(finish(key, index, id));
            }
        }
        keys.sort_unstable();
        keys.dedup();
        Ok(IndexEntries {
            keys,
            multikey: values.multikey,
            new_types: Vec::new(),
        })
    }

    /// The keys that are not in `other`.
    pub(super) fn without<'a>(
        &'a self,
        other: &'a IndexEntries,
    ) -> impl Iterator<Item = &'a Vec<u8>> {
        self.keys
            .iter()
            .filter(|key| other.keys.binary_search(key).is_err())
    }
}

/// Appends a value to a key, and returns whether the value is present.
fn append(index: &Index, value: RawBsonRef<'_>, direction: Direction, key: &mut Vec<u8>) -> bool {
    index.spec.encode(value, direction, key);
    is_present(value)
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
    let paths: Vec<&str> = index.spec.keys.iter().map(|(path, _)| &**path).collect();
    let keys = compound_index_values(document, &paths).map(|values| values.keys);
    // The values of the entry, which are elements if the document has an array.
    let values = keys.unwrap_or_default().into_iter().find(|values| {
        let mut key = new_key();
        for (value, (_, direction)) in values.iter().zip(&index.spec.keys) {
            append(index, *value, *direction, &mut key);
        }
        key == taken
    });
    let values = values.unwrap_or_default().into_iter();
    let values: Vec<RawBson> = values.map(RawBson::from).collect();
    index.spec.duplicate_key(collection, &values)
}
