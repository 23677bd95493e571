//! The collection of the outbox, whose records name the deferred fields to refresh.
//!
//! `docs/format.md` describes the records.

use odm_mql::Direction;
use odm_store::{CollectionSpec, IndexSpec};

/// The collection of the outbox.
pub(crate) const OUTBOX: &str = "_odm_outbox";

/// The collection, with an index of the records in the order of the work, and an index of the documents that they name.
pub(super) fn spec() -> CollectionSpec {
    CollectionSpec {
        name: OUTBOX.to_owned(),
        indexes: vec![
            index("parked_1_at_1", &["parked", "at"]),
            index("id_1", &["id"]),
        ],
        ..CollectionSpec::default()
    }
}

fn index(name: &str, paths: &[&str]) -> IndexSpec {
    let keys = paths.iter();
    IndexSpec {
        name: name.to_owned(),
        keys: keys
            .map(|path| ((*path).to_owned(), Direction::Ascending))
            .collect(),
        unique: false,
        present_only: false,
        case_insensitive: false,
        collation: None,
        filter: None,
    }
}
