//! The reports of an `open`: events, and errors with advice.

use std::collections::BTreeSet;

use odm_store::{CollectionSpec, Error, ErrorKind, show};

use crate::catalog::{Declaration, OwnedIndex};

pub(super) fn retired(
    database: &str,
    collections: &[CollectionSpec],
    retired: &BTreeSet<OwnedIndex>,
) {
    for OwnedIndex {
        collection, name, ..
    } in retired
    {
        let mut collections = collections.iter();
        let is_replaced = collections.any(|other| {
            other.name == *collection && other.indexes.iter().any(|index| index.name == *name)
        });
        let message = match is_replaced {
            true => "index replaced: its declaration has changed",
            false => "index removed: no database on the store declares it any more",
        };
        tracing::info!(target: "odm", database, collection, index = name, "{message}");
    }
}

/// The error of documents that have the same key in a new unique index.
pub(super) fn not_built(error: Error) -> Error {
    let Some(location) = error.location().filter(|_| error.is_duplicate_key()) else {
        return error;
    };
    let index = location.index.as_deref().unwrap_or_default();
    let value = location.id.as_ref().map(show).unwrap_or_default();
    let message = format!(
        "index `{index}` of `{}` not built: it is declared unique, and several documents have the value \
         {value}; give them different values, and open the database again",
        location.collection
    );
    let (path, id) = (location.path.as_deref(), location.id.clone());
    let not_built = Error::new(ErrorKind::DuplicateKey, message);
    not_built
        .at(&location.collection, path, id)
        .of_index(index)
        .with_source(error.clone())
}

/// The error of a database that a read-only store does not have as the program declares it.
pub(super) fn not_declared(declaration: &Declaration, is_stored: bool) -> Error {
    let Declaration { name, version, .. } = declaration;
    let has = match is_stored {
        true => "has it with other models, indexes or migrations",
        false => "does not have it, or not yet in its last checkpoint",
    };
    Error::new(
        ErrorKind::ReadOnly,
        format!(
            "database `{name}` version {version} not opened: the store is read-only, and {has}; open this version in a program that writes \
             first"
        ),
    )
}

/// The error of a migration that has begun.
pub(super) fn begun(version: u32, error: Error) -> Error {
    let message = format!("{error}; {}", state(version, true, true));
    let kind = error.kind();
    let mut begun = Error::new(kind, message);
    if let Some(location) = error.location() {
        begun = begun.at(
            &location.collection,
            location.path.as_deref(),
            location.id.clone(),
        );
        if let Some(index) = &location.index {
            begun = begun.of_index(index);
        }
    }
    if error.is_retryable() {
        begun = begun.retryable();
    }
    begun.with_source(error)
}

/// The state in which a failed `open` leaves the store.
pub(super) fn state(version: u32, has_before: bool, has_begun: bool) -> String {
    match (has_begun, has_before) {
        (false, false) => "nothing has changed".to_owned(),
        (false, true) => "nothing has changed, and the version before goes on".to_owned(),
        (true, _) => format!(
            "the migration has begun, so that no older version can go on: open version {version} again, which goes on \
             where it has ended"
        ),
    }
}
