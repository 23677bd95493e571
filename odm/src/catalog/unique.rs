//! The unique indexes that are in force.

use odm_mql::path;
use odm_store::IndexSpec;

use super::{Catalog, without_positions};

impl Catalog {
    /// The catalog with a unique index.
    #[cfg(test)]
    pub(crate) fn with_unique(mut self, collection: &str, index: IndexSpec) -> Self {
        let of = self.unique.entry(collection.to_owned()).or_default();
        of.push(index);
        self
    }

    /// The unique indexes of a collection.
    pub(crate) fn unique_in(&self, collection: &str) -> &[IndexSpec] {
        self.unique.get(collection).map_or(&[], Vec::as_slice)
    }

    /// Whether an update of these paths may change keys of unique indexes of a collection.
    pub(crate) fn is_unique_updated<'p>(
        &self,
        collection: &str,
        paths: impl IntoIterator<Item = &'p str>,
    ) -> bool {
        let indexes = self.unique_in(collection);
        !indexes.is_empty()
            && paths.into_iter().any(|path| {
                let path = without_positions(path);
                let mut read = indexes.iter().flat_map(IndexSpec::paths);
                read.any(|read| path::overlap(read, &path))
            })
    }
}
