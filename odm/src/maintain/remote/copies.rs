//! The unread updates of all copies of a source.

use bson::RawBson;
use odm_mql::{Filter, Operation, Test, Update, is_scalar};

use crate::catalog::{Along, Cardinality, Catalog, CopyDefinition};

/// Whether an update of all referrers of a source can set the copies: each referrer has one such copy, which gets the value of
/// the source in place of any earlier value.
pub(super) fn can_update(catalog: &Catalog, copy: &CopyDefinition) -> bool {
    let Along::Local(reference) = &copy.along else {
        return false;
    };
    let edge = catalog.edge(&copy.holder, reference);
    let is_single =
        edge.is_some_and(|edge| edge.list.is_none() && edge.cardinality != Cardinality::Many);
    is_single && copy.within.is_empty() && !copy.frozen
}

/// The update that sets copies in the referrers of a source. `None` if the source lacks a value, since the stored form of its
/// absence depends on the referrer, or if the `_id` of the source is no scalar.
pub(in crate::maintain) fn update(
    reference: &str,
    source: RawBson,
    copies: impl Iterator<Item = (String, RawBson)>,
) -> Option<(Filter, Update)> {
    if !is_scalar(&source) {
        return None;
    }
    let mut update = Update::default();
    for (name, value) in copies {
        if value == RawBson::Null {
            return None;
        }
        update.push(name, Operation::Set(value));
    }
    let refers = Filter::Path(reference.to_owned().into(), Test::Eq(source));
    // An array that another program has put in the place of the reference is no reference. The test is of another path: with two
    // tests of the same path, a server may not find the documents by its index.
    let element = format!("{reference}.0");
    let is_no_array = Filter::Path(element.into(), Test::Exists(false));
    Some((refers.and(is_no_array), update))
}
