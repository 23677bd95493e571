//! Opens a database on a store.

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, LazyLock, Mutex, PoisonError, Weak},
};

use crate::{
    catalog::{self, Catalog, Declaration, OwnedIndex, Prepared, Stored},
    error::{Error, ErrorKind, Result, show},
    migration::{self, Changes, MigrationProgress, Migrations, Plan},
    model::Model,
    repository::{Audit, AuditMode},
    session::Session,
    store::{CollectionSpec, Store, StoreId},
};

/// What opening a database needs besides what it declares.
pub(super) struct Opening<'a> {
    pub(super) models: &'a [&'static Model],
    pub(super) migrations: Migrations,
    pub(super) progress: &'a (dyn Fn(&MigrationProgress) + Send + Sync),
}

/// Runs the migrations to a version of a database, makes its collections and indexes, removes the indexes that
/// nobody declares any more, and declares the database in the catalog of the store. Returns the number of steps
/// as well if what follows from a migration is still to be computed.
pub(super) async fn open(
    store: &dyn Store,
    declaration: Declaration,
    opening: &Opening<'_>,
) -> Result<(Catalog, Option<usize>)> {
    let lock = lock_of(store);
    let _opening = lock.lock().await;
    // Nothing is created or changed for models that do not fit to those of others.
    let prepared = catalog::prepare(store, &declaration).await?;
    let name = declaration.name.clone();
    let mut plan = None;
    if let Prepared::Newest {
        collections,
        retired,
    } = &prepared
    {
        if let Some(stored) = catalog::stored_of(&*store.reader()?, &name).await? {
            let planned = plan_of(store, &stored, &declaration, opening).await?;
            Changes::new(&stored, &declaration, &planned).report();
            migration::run(store, &planned, opening.progress).await?;
            migration::refuse_unreadable(&*store.reader()?, &stored, &declaration).await?;
            plan = Some(planned);
        }
        let ensured = store.ensure(collections).await;
        ensured.map_err(not_built)?;
        report_retired(&name, collections, retired);
    }
    let touched = plan.as_ref().map(Plan::touched).unwrap_or_default();
    let catalog = catalog::declare(store, declaration, touched).await?;
    let stored = catalog::stored_of(&*store.reader()?, &name).await?;
    let is_unfinished = stored.is_some_and(|stored| stored.is_unfinished);
    let steps = is_unfinished.then(|| plan.map_or(0, |plan| plan.len()));
    if steps.is_none() && !catalog.pending().is_empty() {
        tracing::warn!(
            target: "odm",
            database = name,
            places = ?catalog.pending(),
            "pending backfills: relations were declared over existing documents; run `backfill()`",
        );
    }
    Ok((catalog, steps))
}

async fn plan_of(
    store: &dyn Store,
    stored: &Stored,
    declaration: &Declaration,
    opening: &Opening<'_>,
) -> Result<Plan> {
    let (models, migrations) = (opening.models, &opening.migrations);
    Plan::new(&*store.reader()?, stored, declaration, migrations, models).await
}

/// Computes the derived fields that follow from what a migration of so many steps has changed.
pub(super) async fn compute_derived(
    session: &Session,
    steps: usize,
    progress: &(dyn Fn(&MigrationProgress) + Send + Sync),
) -> Result<()> {
    let mut backfill = Audit::of_relations(session, AuditMode::Backfill);
    let mut checked = 0;
    while let Some(finding) = backfill.try_next().await? {
        if !finding.repaired {
            tracing::warn!(target: "odm", %finding, "not repaired after a migration");
        }
        let documents = backfill.progress().checked;
        if documents > checked {
            checked = documents;
            progress(&MigrationProgress::of_derived(steps, documents));
        }
    }
    session.end_migration().await?;
    progress(&MigrationProgress::of_derived(
        steps,
        backfill.progress().checked,
    ));
    Ok(())
}

/// What opening a database would change.
pub(super) async fn check(
    store: &dyn Store,
    declaration: &Declaration,
    models: &[&'static Model],
    migrations: &Migrations,
) -> Result<Changes> {
    let reader = store.reader()?;
    catalog::check_declaration(&*reader, declaration).await?;
    let Some(stored) = catalog::stored_of(&*reader, &declaration.name).await? else {
        return Ok(Changes::of_new(declaration));
    };
    let plan = Plan::new(&*reader, &stored, declaration, migrations, models).await?;
    if plan.left().next().is_none() {
        migration::refuse_unreadable(&*reader, &stored, declaration).await?;
    }
    Ok(Changes::new(&stored, declaration, &plan))
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

fn report_retired(database: &str, collections: &[CollectionSpec], retired: &BTreeSet<OwnedIndex>) {
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
