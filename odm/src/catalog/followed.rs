//! The writes that have consequences.

use odm_mql::path;

use super::{Catalog, CollectionNode, CopyDefinition, FromDerived, without_positions};

impl CollectionNode {
    /// Whether a change at a path has consequences; an empty path is the whole document.
    fn is_read(&self, path: &str) -> bool {
        let path = without_positions(path);
        let mut followed = self.followed.iter();
        followed.any(|followed| {
            followed.is_empty() || path.is_empty() || path::overlap(followed, &path)
        })
    }
}

impl Catalog {
    /// Whether an update of these paths of documents of a collection has consequences: a change of
    /// another document, of another field, or a check.
    pub(crate) fn is_update_followed<'p>(
        &self,
        collection: &str,
        paths: impl IntoIterator<Item = &'p str>,
    ) -> bool {
        self.write_fields(collection).is_some()
            || self.splits_of(collection).next().is_some()
            || self.is_update_read(collection, paths)
    }

    /// Whether such an update has consequences besides a record of it in the document and its cold parts.
    pub(crate) fn is_update_read<'p>(
        &self,
        collection: &str,
        paths: impl IntoIterator<Item = &'p str>,
    ) -> bool {
        let Some(node) = self.nodes.get(collection) else {
            return false;
        };
        let is_read = |path: &str| match self.split_at(collection, path) {
            None => node.is_read(path),
            Some(split) => {
                let inside = split.inside(path).unwrap_or_default();
                // A document from before it was split gets a new cold part, with all that is derived in it.
                self.is_pending(&split.hot, &split.path)
                    || self
                        .nodes
                        .get(&split.cold)
                        .is_some_and(|cold| cold.is_read(inside))
            }
        };
        // A change of a cold part alone is recorded in its document. A definition may read the fields that every write sets.
        let is_cold = node.is_split && self.splits_of(collection).next().is_none();
        is_cold
            || node.write_fields.changing().any(|path| node.is_read(path))
            || paths.into_iter().any(is_read)
    }

    /// Whether an insert of documents of a collection has consequences besides a record of it in them. Copies of an inserted document are
    /// no consequence if its referrers can only be inserted after it.
    pub(crate) fn is_insert_followed(&self, collection: &str) -> bool {
        let follows = |&at: &usize| {
            let copy = CopyDefinition::from_derived(&self.relations.derived[at]);
            let reference = copy.and_then(|copy| Some((&copy.holder, copy.reference()?)));
            !reference.is_some_and(|(holder, reference)| self.is_certain(holder, &reference))
        };
        let has_derived = self.derived_in(collection).next().is_some();
        let node = self.nodes.get(collection);
        has_derived
            || node.is_some_and(|node| {
                node.is_split || !node.out.is_empty() || node.readers.iter().any(follows)
            })
    }

    /// Whether a replacement of whole documents of a collection has consequences.
    pub(crate) fn is_replace_followed(&self, collection: &str) -> bool {
        self.nodes.get(collection).is_some_and(|node| {
            !node.write_fields.is_empty() || node.is_split || !node.followed.is_empty()
        }) || self.unnamed.contains_key(collection)
    }

    /// Whether a removal of documents of a collection has consequences.
    pub(crate) fn is_delete_followed(&self, collection: &str) -> bool {
        self.nodes
            .get(collection)
            .is_some_and(|node| node.is_split || !node.into.is_empty() || !node.readers.is_empty())
    }
}
