//! The locks of a unit, on a store whose transactions run side by side.
//!
//! Such a store keeps two units apart that write the same document, and no others. Two rules make of the locks what keeps
//! derived data right when the units meet over a document that one of them only reads:
//!
//! - a unit *shares* a document if it adds a reference to it, or changes a child that counts for it;
//! - a unit *excludes* others from a document if it searches the documents that refer to it, since what it then writes, or
//!   does not, depends on there being no others.
//!
//! A unit that removes or changes a document of which all referrers are counted in it needs no lock to find them: whoever
//! adds one changes the count. It takes one all the same if it has lost a conflict, so that it is not lost for ever to the
//! shorter units that add referrers.

use bson::RawBson;
use odm_mql::{Filter, Test, key};
use odm_store::{Find, FindByKey, Result};

use super::{super::references, Unit};

impl Unit<'_> {
    /// Shares documents, which need not exist, with other units.
    pub(in crate::maintain) fn share<'i>(
        &mut self,
        collection: &str,
        ids: impl IntoIterator<Item = &'i RawBson>,
    ) {
        if let Some(locks) = self.transaction.locks() {
            for id in ids {
                locks.share(collection, id.as_raw_bson_ref());
            }
        }
    }

    /// Excludes other units from documents, which need not exist.
    pub(in crate::maintain) fn exclude<'i>(
        &mut self,
        collection: &str,
        ids: impl IntoIterator<Item = &'i RawBson>,
    ) {
        if let Some(locks) = self.transaction.locks() {
            for id in ids {
                locks.exclude(collection, id.as_raw_bson_ref());
            }
        }
    }

    /// Takes the locks that were added, before anything else is read or written.
    pub(in crate::maintain) async fn take_locks(&mut self) -> Result<()> {
        self.transaction.take_locks().await
    }

    /// Excludes other units from documents whose referrers by a path are searched: not from those that the unit has changed,
    /// if whoever refers to one of them changes it too.
    fn exclude_referred(&mut self, to: &str, ids: &[RawBson], (from, path): (&str, &str)) {
        if self.transaction.locks().is_none() {
            return;
        }
        let edge = self.catalog.edge(from, path);
        let is_counted = edge.is_some_and(|edge| self.catalog.is_counted(edge));
        let images = self.images(to);
        let is_changed = |id: &&RawBson| {
            let at = images.position(&key::of(id.as_raw_bson_ref()));
            at.is_some_and(|at| images.at(at).is_changed())
        };
        let ids = ids.iter().cloned();
        let (changed, others): (Vec<RawBson>, Vec<RawBson>) =
            ids.partition(|id| is_counted && is_changed(&id));
        self.exclude(to, &others);
        if let Some(locks) = self.transaction.locks() {
            for id in &changed {
                locks.exclude_if_run_again(to, id.as_raw_bson_ref());
            }
        }
    }

    /// Returns the query of the documents of a collection that refer to these ones by a path, and excludes other units from
    /// these, as far as it takes a lock.
    pub(in crate::maintain) fn find_referrers(
        &mut self,
        referred: (&str, Vec<RawBson>),
        collection: &str,
        path: &str,
    ) -> Find {
        let (to, mut ids) = referred;
        self.exclude_referred(to, &ids, (collection, path));
        let path = path.to_owned().into();
        let filter = match ids.len() {
            // By one value, an index gives the order of `_id`.
            1 => Filter::Path(path, Test::Eq(ids.remove(0))),
            _ => Filter::Path(path, Test::In(ids.into())),
        };
        Find {
            collection: collection.to_owned(),
            filter,
            ..Find::default()
        }
    }

    /// Excludes other units from the documents by whose references a query searches.
    pub(super) fn exclude_keys(&mut self, find: &FindByKey) {
        if let Some(edge) = self.catalog.edge(&find.find.collection, &find.path) {
            self.exclude(&edge.to, &find.keys);
        }
    }

    /// Shares the documents to which queued ones refer and did not before. A repair takes no reference for one that was
    /// followed before.
    pub(super) fn share_added(&mut self) {
        let Some(locks) = self.transaction.locks() else {
            return;
        };
        for (collection, images) in &self.collections {
            for edge in self.catalog.edges_from(collection) {
                let held = |image: &super::Image| match self.repairs {
                    true => None,
                    false => image.before().cloned(),
                };
                for id in references::added(edge, images.queued(), &held) {
                    locks.share(&edge.to, id.as_raw_bson_ref());
                }
            }
        }
    }
}
