//! The change of all copies of a source in documents that are not read.

use bson::{RawBson, RawBsonRef};
use odm_mql::{Filter, Operation, Test, Update, is_scalar};

use super::{recompute::value, stale::FollowedSources};
use crate::{
    catalog::{Along, Cardinality, Catalog, CopyDefinition},
    maintain::unit::id,
};

/// Whether copies can be set by an update of all documents that refer to the source: each of them has one such copy, which
/// has the value of the source whatever it held.
pub(in crate::maintain::derived) fn is_blind(catalog: &Catalog, copy: &CopyDefinition) -> bool {
    let Along::Local(reference) = &copy.along else {
        return false;
    };
    let edge = catalog.edge(&copy.holder, reference);
    let is_single =
        edge.is_some_and(|edge| edge.list.is_none() && edge.cardinality != Cardinality::Many);
    is_single && copy.within.is_empty() && !copy.frozen
}

/// The updates of the documents that refer to changed sources. `None` if a source has nothing to copy, since how that is stored
/// depends on the document, or if its `_id` is no scalar.
pub(super) fn updates(follow: &FollowedSources<'_>) -> Option<Vec<(Filter, Update)>> {
    let updates = follow.sources.values().map(|source| {
        let id = RawBson::from(id(source));
        if !is_scalar(&id) {
            return None;
        }
        let mut update = Update::default();
        for copy in &follow.copies {
            match value(source, &copy.value) {
                None | Some(RawBsonRef::Null) => return None,
                Some(value) => update.push(copy.name.clone(), Operation::Set(value.into())),
            }
        }
        let refers = Filter::Path(follow.reference.clone().into(), Test::Eq(id));
        // An array that another program has put in the place of the reference is none. With a second test of the same path, a
        // server may not find the documents by its index.
        let element = format!("{}.0", follow.reference);
        let is_no_array = Filter::Path(element.into(), Test::Exists(false));
        Some((refers.and(is_no_array), update))
    });
    updates.collect()
}
