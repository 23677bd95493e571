//! The trees of the engine, and their keys and values.
//!
//! | tree | key | value |
//! |---|---|---|
//! | 0 | a name | BSON: the format, the schema, the log |
//! | of a collection | key of `_id` | the document |
//! | of an index | keys of the fields, key of `_id` | length of the key of `_id`, u32 BE |
//! | of a unique index | keys of the fields | key of `_id` |
//!
//! The key of a value is its encoding by `mql::key`, which contains its own end, so that no key of a tree is a prefix of another, and which
//! never begins with ff. `docs/format.md` describes the whole format.

use bson::RawBsonRef;

use odm_mql::key;
use odm_store::{Error, ErrorKind, Result};

/// The number of a tree.
pub(super) type Tree = u32;

/// The greatest number of a tree.
pub(super) const MAX_TREE: Tree = 1 << 20;

/// The tree of the store's own records.
pub(super) const META: Tree = 0;

/// The version of the format of a new store.
pub(super) const FORMAT: i32 = 3;

/// The version of the format of a store that has, or had, an index unknown to format 3. A program without this kind of index would write
/// wrong entries.
pub(super) const FORMAT_OF_INDEXES: i32 = 4;

/// The format of stores with a collection or an index with a collation.
pub(super) const FORMAT_OF_COLLATIONS: i32 = 5;

/// The format of stores with an index whose types of values are known. A program without this would not note other types.
pub(super) const FORMAT_OF_TYPES: i32 = 6;

/// A key that is greater than all keys of a tree.
pub(super) const END: [u8; 1] = [0xff];

/// The key of the document with this `_id`.
pub(super) fn document_key(id: RawBsonRef<'_>) -> Vec<u8> {
    let mut key = new_key();
    key::encode(id, &mut key);
    key
}

/// An empty key, with enough capacity for most keys.
pub(super) fn new_key() -> Vec<u8> {
    Vec::with_capacity(40)
}

/// The value of an entry of an index that is not unique.
pub(super) fn id_len(id: &[u8]) -> [u8; 4] {
    // An `_id` is at most as large as a document.
    (id.len() as u32).to_be_bytes()
}

/// The position of the key of `_id` in the key of an entry of an index that is not unique.
pub(super) fn id_start(key: &[u8], value: &[u8]) -> Result<usize> {
    let len = <[u8; 4]>::try_from(value).ok().map(u32::from_be_bytes);
    len.and_then(|len| key.len().checked_sub(len as usize))
        .filter(|&start| start > 0)
        .ok_or_else(|| damaged("an index entry has no `_id`"))
}

/// The least key that is greater than all keys that begin with `prefix`.
pub(super) fn after_prefix(prefix: &[u8]) -> Vec<u8> {
    let last = prefix.iter().rposition(|&byte| byte != 0xff);
    let Some(last) = last else {
        return END.to_vec();
    };
    let mut key = prefix[..=last].to_vec();
    key[last] += 1;
    key
}

/// The error of stored data that this library never writes.
#[cold]
pub(super) fn damaged(what: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Corrupt, format!("the store is damaged: {what}"))
}
