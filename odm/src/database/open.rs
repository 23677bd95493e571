//! Opens a database on a store.

#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError, Weak},
};

use crate::{
    catalog::{self, Catalog, OwnedIndex, Prepared, Relations},
    error::{Error, ErrorKind, Result, show},
    store::{CollectionSpec, Store, StoreId},
};

/// Makes the collections and indexes of a database, removes the indexes that nobody declares any
/// more, and declares the database in the catalog of the store.
pub(super) async fn open(
    store: &dyn Store,
    name: &str,
    version: u32,
    relations: Relations,
    specs: Vec<CollectionSpec>,
) -> Result<Catalog> {
    let lock = lock_of(store);
    let _opening = lock.lock().await;
    // Nothing is created for models that do not fit to those of others.
    let prepared = catalog::prepare(store, name, version, &relations, &specs).await?;
    let ensured = store.ensure(&prepared.collections).await;
    ensured.map_err(not_built)?;
    report_retired(name, &prepared);
    let catalog = catalog::declare(store, name, version, relations, &specs).await?;
    if !catalog.pending().is_empty() {
        tracing::warn!(
            target: "odm",
            database = name,
            places = ?catalog.pending(),
            "pending backfills: relations were declared over existing documents; run `backfill()`",
        );
    }
    Ok(catalog)
}

type Lock = tokio::sync::Mutex<()>;

/// The lock of the databases that are being opened on a store: between what one reads in the catalog
/// and what it declares there, no other may change the indexes. Stores without an identity share one.
fn lock_of(store: &dyn Store) -> Arc<Lock> {
    static LOCKS: LazyLock<Mutex<HashMap<Option<StoreId>, Weak<Lock>>>> =
        LazyLock::new(Mutex::default);
    let id = store.capabilities().single_writer;
    let mut locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    locks.retain(|_, lock| lock.strong_count() > 0);
    let lock = locks.get(&id).and_then(Weak::upgrade);
    lock.unwrap_or_else(|| {
        let new = Arc::new(Lock::default());
        locks.insert(id, Arc::downgrade(&new));
        new
    })
}

fn report_retired(database: &str, prepared: &Prepared) {
    for OwnedIndex {
        collection, name, ..
    } in &prepared.retired
    {
        let mut collections = prepared.collections.iter();
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
fn not_built(error: Error) -> Error {
    let Some(location) = error.location().filter(|_| error.is_duplicate_key()) else {
        return error;
    };
    let index = location.path.as_deref().unwrap_or_default();
    let value = location.id.as_ref().map(show).unwrap_or_default();
    let message = format!(
        "index `{index}` of `{}` not built: it is declared unique, and several documents have the value \
         {value}; nothing has changed: give them different values, and open the database again",
        location.collection
    );
    let (path, id) = (location.path.as_deref(), location.id.clone());
    let not_built = Error::new(ErrorKind::DuplicateKey, message);
    not_built
        .at(&location.collection, path, id)
        .with_source(error.clone())
}
