//! Marks of the documents of a collection.

use std::{
    any::Any,
    sync::{Arc, Weak},
};

/// A mark of the documents that a collection has in a state, from [`Reader::mark`](crate::Reader::mark). Two equal marks of readers of one
/// store mark the same documents. The documents can be the same under other marks, too.
///
/// ```
/// use std::sync::Arc;
/// use odm_store::CollectionMark;
///
/// let base = Arc::new("the state at a checkpoint");
/// assert_eq!(CollectionMark::new(&base, 7, 1), CollectionMark::new(&base, 7, 1));
/// assert_ne!(CollectionMark::new(&base, 7, 1), CollectionMark::new(&base, 7, 2));
/// assert_ne!(CollectionMark::new(&base, 7, 1), CollectionMark::new(&Arc::new("the next one"), 7, 1));
/// ```
#[derive(Debug, Clone)]
pub struct CollectionMark {
    /// Its address is that of no other base as long as the mark lives.
    base: Weak<dyn Any + Send + Sync>,
    collection: u64,
    commit: u64,
}

impl CollectionMark {
    /// A mark of the collection with a number, which no other collection of the store ever has: of its documents in a base, with the
    /// changes up to the last commit that has changed it since.
    pub fn new<B: Any + Send + Sync>(base: &Arc<B>, collection: u64, commit: u64) -> Self {
        let base: Weak<B> = Arc::downgrade(base);
        CollectionMark {
            base,
            collection,
            commit,
        }
    }
}

impl PartialEq for CollectionMark {
    fn eq(&self, other: &Self) -> bool {
        self.base.ptr_eq(&other.base)
            && self.collection == other.collection
            && self.commit == other.commit
    }
}
