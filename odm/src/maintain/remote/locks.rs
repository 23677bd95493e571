//! The locks of a unit, on a store that is not serializable.
//!
//! Such a store finds conflicts only between units that write the same document. By three rules, locks keep derived data right
//! where one unit only reads a document that another unit writes:
//!
//! - a unit *shares* a document if it adds a reference to it, or changes a child that counts for it;
//! - a unit *excludes* others from a document if it searches the referrers of the document, since its writes are right only if
//!   there are no other referrers;
//! - a unit that puts documents of a tree below others excludes others from the moved ones, and shares all documents above them: of two units
//!   that close a ring together, each moves a document above that of the other.
//!
//! A unit that removes or changes a document whose every referrer is counted in it needs no lock to find them: a new referrer
//! changes the count. The unit takes the lock all the same once it has lost a conflict, so that the shorter units that add
//! referrers do not win for ever.

use bson::RawBson;
use odm_mql::{Filter, Test, key};
use odm_store::{Find, FindByKey};

use crate::maintain::{
    references,
    unit::{Image, Unit},
};

impl Unit<'_> {
    /// Shares documents, which need not exist, with other units.
    pub(in crate::maintain) fn share<'i>(
        &mut self,
        collection: &str,
        ids: impl IntoIterator<Item = &'i RawBson>,
    ) {
        if let Some(locks) = self.locks() {
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
        if let Some(locks) = self.locks() {
            for id in ids {
                locks.exclude(collection, id.as_raw_bson_ref());
            }
        }
    }

    /// Takes exclusive locks on the targets of a referrer search. Skips changed targets whose every referrer is counted in
    /// them: a new referrer must change the count, and conflicts anyway.
    fn exclude_referred(&mut self, to: &str, ids: &[RawBson], (from, path): (&str, &str)) {
        if self.locks().is_none() {
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
        if let Some(locks) = self.locks() {
            for id in &changed {
                locks.exclude_if_run_again(to, id.as_raw_bson_ref());
            }
        }
    }

    /// Returns the query for the documents of a collection that reference these documents by a path, and excludes other units
    /// from these documents, as far as it takes a lock.
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
            // For one value, an index has the documents in the order of `_id`.
            1 => Filter::Path(path, Test::Eq(ids.remove(0))),
            _ => Filter::Path(path, Test::In(ids.into())),
        };
        Find {
            collection: collection.to_owned(),
            filter,
            ..Find::default()
        }
    }

    /// Excludes other units from the documents whose referrers a query searches.
    pub(in crate::maintain) fn exclude_keys(&mut self, find: &FindByKey) {
        if let Some(to) = self.catalog.named_by(&find.find.collection, &find.path) {
            self.exclude(to, &find.keys);
        }
    }

    /// Shares the documents that queued documents reference and did not before. In a repair, every reference counts as added.
    pub(in crate::maintain) fn share_added(&mut self) {
        if self.locks().is_none() {
            return;
        }
        let mut added = Vec::new();
        for collection in self.collections() {
            for edge in self.catalog.edges_from(collection) {
                let trusts_stored = self.policy.trusts_stored;
                let held = |image: &Image| image.before().filter(|_| trusts_stored).cloned();
                let queued = self.images(collection).queued();
                added.push((edge, references::added(edge, queued, &held)));
            }
        }
        for (edge, ids) in &added {
            self.share(&edge.to, ids);
        }
    }
}
