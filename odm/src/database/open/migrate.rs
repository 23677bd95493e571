//! The migration of a database after its trial, and its declaration: in place, or in staged collections.

use std::{collections::BTreeSet, sync::Arc};

use bson::oid::ObjectId;
use odm_mql::path;
use odm_store::{CollectionSpec, IndexSpec, Result, Store};

use super::{
    OpenOptions, Opened,
    announced::Announced,
    backfill_unreadable, compute_derived, report,
    run::{Intent, MakeSession, Program},
};
use crate::{
    catalog::{self, Announcement, COLLECTION, Prepared},
    migration,
    staged::Staged,
};

impl Program<'_> {
    /// Migrates the documents in place, and declares the database. Once that has begun, no older version can go on.
    pub(super) async fn migrate_in_place(
        &self,
        store: &dyn Store,
        intent: &Intent,
        options: &OpenOptions,
        announced: &mut Announced,
    ) -> Result<Opened> {
        if intent.plan.has_left() {
            migration::begin(store, &intent.plan, announced.migration).await?;
            announced.migration = None;
        }
        // A migration that has begun goes on, and is not withdrawn.
        announced.has_indexes = !intent.plan.has_begun() && !intent.plan.has_left();
        if intent.has_unrecorded() {
            catalog::record_indexes(store, self.declaration).await?;
        }
        let (mut change, migration) = (announced.change, announced.migration);
        let opened = self
            .declare(store, intent, options, &mut change, migration)
            .await;
        announced.change = change;
        let opened = opened?;
        announced.is_declared();
        Ok(opened)
    }

    /// Builds new versions of the collections that the migration touches as staged collections, and replaces the old ones by one commit:
    /// before it nothing has changed, and after it the migration is complete.
    pub(super) async fn migrate_beside(
        &self,
        store: &Arc<dyn Store>,
        intent: &Intent,
        options: &OpenOptions,
        session: MakeSession<'_>,
        announced: &mut Announced,
    ) -> Result<Opened> {
        let name = &self.declaration.name;
        let Some(migration) = announced.migration else {
            return self
                .migrate_in_place(&**store, intent, options, announced)
                .await;
        };
        let beside = Staged::new(store.clone());
        let mut collections = intent.plan.collections();
        collections.insert(COLLECTION.to_owned());
        for collection in &collections {
            migration::stage(&**store, &beside, name, migration, collection).await?;
        }
        let mut left = Some(migration);
        if intent.plan.has_left() {
            migration::begin(&beside, &intent.plan, left.take()).await?;
        }
        announced.has_indexes = true;
        if intent.has_unrecorded() {
            catalog::record_indexes(&**store, self.declaration).await?;
        }
        let opened = self
            .declare(&beside, intent, options, &mut None, left)
            .await?;
        // These fields are computed in one pass, which starts again after a write to a collection that is not staged.
        let catalog = catalog::load(&*beside.reader()?).await?;
        let computed = match opened.migrated {
            Some(_) => catalog.pending().clone(),
            None => catalog.unreadable_pending(),
        };
        for field in &computed {
            let holder = catalog.holder_of(field);
            migration::stage(&**store, &beside, name, migration, holder).await?;
        }
        loop {
            let session = session(
                Arc::new(beside.clone()),
                catalog::load(&*beside.reader()?).await?,
            );
            let computed = match opened.migrated {
                Some(steps) => compute_derived(&session, steps, options).await,
                None => backfill_unreadable(&session, name).await,
            };
            match (computed, beside.missing()) {
                (Ok(()), _) => break,
                // The missing collection holds fields that follow from the changed ones.
                (Err(_), Some(collection)) => {
                    migration::stage(&**store, &beside, name, migration, &collection).await?;
                }
                (Err(error), None) => return Err(error),
            }
        }
        catalog::publish(&**store, name, migration).await?;
        announced.is_declared();
        Ok(Opened {
            catalog: catalog::load(&*store.reader()?).await?,
            migrated: None,
        })
    }

    /// Runs the steps of a migration that has begun, and declares the database.
    async fn declare(
        &self,
        store: &dyn Store,
        intent: &Intent,
        options: &OpenOptions,
        change: &mut Option<Announcement>,
        announced: Option<ObjectId>,
    ) -> Result<Opened> {
        let name = &self.declaration.name;
        let plan = &intent.plan;
        if let Prepared::Newest {
            collections,
            retired,
            ..
        } = &intent.prepared
        {
            if plan.has_left() {
                let touched = plan.collections();
                unvalidate(store, &touched).await?;
                unindex(store, &plan.touched(), collections).await?;
                migration::run(store, plan, &|progress| options.report(name, progress)).await?;
            }
            let ensured = store.ensure(collections).await;
            ensured.map_err(report::not_built)?;
            report::retired(name, collections, retired);
        }
        let declaration = self.declaration.clone();
        let catalog =
            catalog::declare(store, declaration, plan.touched(), change, announced).await?;
        store.validate(&catalog.validations()).await?;
        let stored = catalog::stored_of(&*store.reader()?, name).await?;
        let is_unfinished = stored.is_some_and(|stored| stored.is_unfinished);
        Ok(Opened {
            catalog,
            migrated: is_unfinished.then(|| plan.len()),
        })
    }
}

/// Drops the validators of the collections that steps change: the written documents conform only to the new declaration, after all steps.
async fn unvalidate(store: &dyn Store, touched: &BTreeSet<String>) -> Result<()> {
    let mut validations = catalog::load(&*store.reader()?).await?.validations();
    validations.retain(|of| !touched.contains(&of.collection));
    store.validate(&validations).await
}

/// Removes the unique indexes of fields that steps change: between two steps documents may have the same key; after all steps no two have,
/// as the trial has found.
async fn unindex(
    store: &dyn Store,
    touched: &[(String, String)],
    collections: &[CollectionSpec],
) -> Result<()> {
    let is_touched = |collection: &str, index: &IndexSpec| {
        let mut paths = touched.iter().filter(|(name, _)| name == collection);
        paths.any(|(_, touched)| {
            let mut keys = index.keys.iter();
            touched.is_empty()
                || index.filter.is_some()
                || keys.any(|(path, _)| path::overlap(path, touched))
        })
    };
    let mut without = Vec::new();
    for spec in collections {
        let all = spec.indexes.iter().chain(&spec.obsolete);
        let obsolete = all.filter(|index| index.unique && is_touched(&spec.name, index));
        let obsolete: Vec<IndexSpec> = obsolete.cloned().collect();
        if !obsolete.is_empty() {
            without.push(CollectionSpec {
                name: spec.name.clone(),
                obsolete,
                ..CollectionSpec::default()
            });
        }
    }
    match without.is_empty() {
        true => Ok(()),
        false => store.ensure(&without).await,
    }
}
