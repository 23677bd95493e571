//! The collections and indexes that models declare.

use crate::mql::Direction;

/// A collection as the models declare it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CollectionSpec {
    /// Its name.
    pub name: String,
    /// Its indexes, besides the one on `_id`.
    pub indexes: Vec<IndexSpec>,
}

/// An index as the models declare it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexSpec {
    /// Its name, unique in the collection.
    pub name: String,
    /// Its fields, in order.
    pub keys: Vec<(String, Direction)>,
    /// No two documents may have the same key.
    pub unique: bool,
    /// Documents in which one of the fields is missing or null have no entry, so that `unique`
    /// means unique among those present.
    pub present_only: bool,
}
