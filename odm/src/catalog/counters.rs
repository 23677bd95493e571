//! The collection of the counters of sequences within parents.
//!
//! `docs/format.md` describes its documents.

use odm_store::CollectionSpec;

/// The collection of the counters. It is not that of the stored catalog, which is read as a whole: there is a counter for each parent.
pub(crate) const COUNTERS: &str = "_odm_counters";

pub(super) fn spec() -> CollectionSpec {
    CollectionSpec {
        name: COUNTERS.to_owned(),
        ..CollectionSpec::default()
    }
}
