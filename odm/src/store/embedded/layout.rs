//! The keys and values in the engine. Each key is `[tree: u32 BE][key]`.
//!
//! | tree | key | value |
//! |---|---|---|
//! | 0 | a name | BSON: the format, the schema |
//! | of a collection | key of `_id` | the document |
//! | of an index | keys of the fields, key of `_id` | length of the key of `_id`, u32 BE |
//! | of a unique index | keys of the fields | key of `_id` |
//!
//! The key of a value is its encoding by `mql::key`, which tells its own end, so that no key of a tree
//! is a prefix of another. `docs/format.md` describes the whole format.

use bson::RawBsonRef;

use crate::{
    error::{Error, ErrorKind, Result},
    mql::key,
};

/// The number of a tree.
pub(super) type Tree = u32;

/// The tree of the store's own records.
pub(super) const META: Tree = 0;

/// The version of the format.
pub(super) const FORMAT: i32 = 1;

/// The length of the number of a tree in a key.
pub(super) const TREE_LEN: usize = size_of::<Tree>();

/// The least key of a tree. The least key of the next tree is greater than all keys of this one.
pub(super) fn tree_start(tree: Tree) -> [u8; TREE_LEN] {
    tree.to_be_bytes()
}

/// The beginning of a key in a tree, with capacity for the rest.
pub(super) fn begin(tree: Tree) -> Vec<u8> {
    let mut key = Vec::with_capacity(40);
    key.extend_from_slice(&tree_start(tree));
    key
}

/// The key of one of the store's own records.
pub(super) fn meta_key(name: &str) -> Vec<u8> {
    let mut key = begin(META);
    key.extend_from_slice(name.as_bytes());
    key
}

/// The key of the document with this `_id`.
pub(super) fn document_key(tree: Tree, id: RawBsonRef<'_>) -> Vec<u8> {
    let mut key = begin(tree);
    key::encode(id, &mut key);
    key
}

/// The key of the document whose `_id` has this key.
pub(super) fn document_key_of(tree: Tree, id: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(TREE_LEN + id.len());
    key.extend_from_slice(&tree_start(tree));
    key.extend_from_slice(id);
    key
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
        .filter(|&start| start >= TREE_LEN)
        .ok_or_else(|| damaged("an index entry has no `_id`"))
}

/// The least key that is greater than all keys that begin with `prefix`, which must not be all ones.
pub(super) fn after_prefix(prefix: &[u8]) -> Vec<u8> {
    let end = prefix
        .iter()
        .rposition(|&byte| byte != 0xff)
        .map_or(0, |at| at + 1);
    let mut key = prefix[..end].to_vec();
    if let Some(last) = key.last_mut() {
        *last += 1;
    }
    key
}

/// The error of stored data that this library never writes.
#[cold]
pub(super) fn damaged(what: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Corrupt, format!("the store is damaged: {what}"))
}
