//! The order in which a database is opened.
//!
//! All operations that can fail are tried before the first write that cannot be withdrawn: announce, try, then migrate and declare, or
//! withdraw.

use std::{collections::BTreeSet, sync::Arc};

use bson::oid::ObjectId;
use odm_store::{Reader, Result, Store};

use super::{
    OpenOptions, Opened,
    announced::{Announced, lock_of},
    report,
};
use crate::{
    catalog::{self, Announcement, Catalog, Declaration, Prepared, StoredDatabase},
    migration::{self, Failures, Migrations, Plan, SchemaChanges, Trial},
    model::Model,
    session::Session,
};

/// Makes the session of a database on a store.
pub(super) type MakeSession<'m> = &'m (dyn Fn(Arc<dyn Store>, Catalog) -> Session + Send + Sync);

/// Runs the migrations to a version of a database, makes its collections and indexes, removes the indexes that
/// nobody declares any more, and declares the database in the catalog of the store.
pub(super) async fn open(
    store: &Arc<dyn Store>,
    declaration: Declaration,
    models: &[&'static Model],
    migrations: &Migrations,
    options: &OpenOptions,
    session: MakeSession<'_>,
) -> Result<Opened> {
    let lock = lock_of(&**store);
    let _opening = lock.lock().await;
    let mut announced = Announced::nothing(store, &declaration.name);
    let program = Program {
        declaration: &declaration,
        models,
        migrations,
        may_backfill: !options.refuses_backfill,
    };
    let opened = program.open(store, options, session, &mut announced).await;
    announced.withdraw().await;
    opened
}

/// Returns the changes that opening a database would make.
pub(in crate::database) async fn check(
    store: &dyn Store,
    declaration: &Declaration,
    models: &[&'static Model],
    migrations: &Migrations,
) -> Result<SchemaChanges> {
    let program = Program {
        declaration,
        models,
        migrations,
        may_backfill: true,
    };
    let intent = program.intent(&*store.reader()?).await?;
    let changes = match &intent.stored {
        None => SchemaChanges::of_new(declaration),
        Some(stored) => SchemaChanges::new(stored, declaration, &intent.plan),
    };
    Ok(changes.with_failures(program.try_all(store, &intent).await?))
}

/// A version of a database.
pub(super) struct Program<'p> {
    pub(super) declaration: &'p Declaration,
    models: &'p [&'static Model],
    migrations: &'p Migrations,
    may_backfill: bool,
}

/// The actions that are about to be taken.
pub(super) struct Intent {
    stored: Option<StoredDatabase>,
    pub(super) prepared: Prepared,
    pub(super) plan: Plan,
    /// The collections whose models can read fewer documents than before.
    changed: BTreeSet<String>,
}

impl Intent {
    /// Whether nobody else may write until the database is declared.
    fn is_migration(&self) -> bool {
        self.plan.has_left() || !self.changed.is_empty() || self.must_backfill()
    }

    /// Whether indexes are to be recorded before they are made.
    pub(super) fn has_unrecorded(&self) -> bool {
        matches!(
            self.prepared,
            Prepared::Newest {
                has_unrecorded: true,
                ..
            }
        )
    }

    /// Whether fields without an empty value are new in documents of the version before.
    fn must_backfill(&self) -> bool {
        let Prepared::Newest { must_backfill, .. } = self.prepared else {
            return false;
        };
        must_backfill && self.stored.is_some()
    }
}

impl Program<'_> {
    async fn intent(&self, reader: &dyn Reader) -> Result<Intent> {
        let declaration = self.declaration;
        let prepared = catalog::prepare(reader, declaration, self.may_backfill).await?;
        let stored = catalog::stored_of(reader, &declaration.name).await?;
        let (mut plan, mut changed) = (Plan::empty(declaration), BTreeSet::new());
        if let (Some(stored), Prepared::Newest { .. }) = (&stored, &prepared) {
            plan = Plan::new(reader, stored, declaration, self.migrations, self.models).await?;
            changed = migration::with_changed_models(stored, declaration);
        }
        Ok(Intent {
            stored,
            prepared,
            plan,
            changed,
        })
    }

    /// Tries all operations that can fail, without writing.
    async fn try_all(&self, store: &dyn Store, intent: &Intent) -> Result<Failures> {
        let Prepared::Newest {
            collections,
            new_indexes,
            ..
        } = &intent.prepared
        else {
            return Ok(Failures::default());
        };
        let trial = Trial::new(
            &intent.plan,
            self.declaration,
            self.models,
            &intent.changed,
            collections,
            new_indexes,
        );
        trial?.run(store).await
    }

    async fn open(
        &self,
        shared: &Arc<dyn Store>,
        options: &OpenOptions,
        session: MakeSession<'_>,
        announced: &mut Announced,
    ) -> Result<Opened> {
        let store = &**shared;
        if store.capabilities().read_only {
            return self.open_read_only(store).await;
        }
        let Declaration { name, version, .. } = self.declaration;
        let mut intent = self.intent(&*store.reader()?).await?;
        let is_left =
            |stored: &StoredDatabase| stored.migration.as_ref().is_some_and(|of| !of.has_begun());
        if intent.stored.as_ref().is_some_and(is_left) {
            // It is by a program that has ended, or that gives way: its migration has not begun.
            catalog::withdraw_migration(store, name, None).await?;
            intent = self.intent(&*store.reader()?).await?;
        }
        if self.announce(store, &intent, announced).await? {
            // Other databases may have been declared meanwhile.
            intent = self.intent(&*store.reader()?).await?;
        }
        let has_begun = intent.plan.has_begun();
        let failures = self.try_all(store, &intent).await?;
        let state = report::state(*version, intent.stored.is_some(), has_begun);
        if let Some(error) = failures.into_error(self.declaration, &state) {
            return Err(error);
        }
        if let (Some(stored), Prepared::Newest { .. }) = (&intent.stored, &intent.prepared) {
            SchemaChanges::new(stored, self.declaration, &intent.plan).report();
        }
        let is_beside = intent.plan.has_left() || intent.must_backfill();
        let is_beside = is_beside && store.capabilities().changes_collections;
        let opened = match announced.migration.filter(|_| is_beside) {
            Some(_) => {
                self.migrate_beside(shared, &intent, options, session, announced)
                    .await
            }
            None => {
                self.migrate_in_place(store, &intent, options, announced)
                    .await
            }
        };
        let begins = intent.plan.has_left() && announced.migration.is_none();
        opened.map_err(|error| match has_begun || begins {
            true => report::begun(*version, error),
            false => error,
        })
    }

    /// Opens the database without a write.
    ///
    /// # Errors
    ///
    /// `ReadOnly` if the store does not have it as this version declares it.
    async fn open_read_only(&self, store: &dyn Store) -> Result<Opened> {
        let reader = store.reader()?;
        let intent = self.intent(&*reader).await?;
        let is_declared = match intent.prepared {
            Prepared::Older => true,
            Prepared::Newest { is_change, .. } => {
                let changes = is_change || intent.has_unrecorded() || intent.is_migration();
                intent.stored.is_some() && !changes
            }
        };
        match is_declared {
            true => Ok(Opened {
                catalog: catalog::load(&*reader).await?,
                migrated: None,
            }),
            false => Err(report::not_declared(
                self.declaration,
                intent.stored.is_some(),
            )),
        }
    }

    /// Announces the intent. Returns whether there is anything to announce.
    async fn announce(
        &self,
        store: &dyn Store,
        intent: &Intent,
        announced: &mut Announced,
    ) -> Result<bool> {
        let Prepared::Newest { is_change, .. } = intent.prepared else {
            return Ok(false);
        };
        let Declaration {
            name,
            version,
            relations,
            ..
        } = self.declaration;
        if is_change || intent.is_migration() {
            announced.change = Announcement::make(store).await?;
        }
        if intent.is_migration() {
            let mut collections = intent.plan.collections();
            collections.extend(relations.collections.iter().map(|of| of.name.clone()));
            // It is withdrawn if this future is dropped from here on.
            let migration = ObjectId::new();
            announced.migration = Some(migration);
            if !catalog::announce_migration(store, name, migration, *version, collections).await? {
                announced.migration = None;
            }
        }
        Ok(announced.change.is_some() || intent.is_migration())
    }
}
