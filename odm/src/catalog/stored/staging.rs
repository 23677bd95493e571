//! A migration that builds staged collections, on a store that can replace whole collections.
//!
//! The record of the announced migration names the staged collections, so that a program that withdraws it removes them. The stored catalog
//! is staged too: its declarations come into force with the commit that publishes all staged collections.

use std::sync::Arc;

use async_trait::async_trait;
use bson::oid::ObjectId;
use odm_store::{CollectionChange, Durability, ReaderExt, Result, Store, Transaction, UnitOfWork};

use super::{
    COLLECTION, Owner, RunningMigration, decode, indexes,
    migration::{own, withdrawn},
    next_epoch, owner_id, put,
    whole::change_collections,
};
use crate::staged::staged_name;

/// Makes the empty staged collection of a collection, to which nobody else writes from now on.
///
/// # Errors
///
/// `Migrating` if the announcement of the migration does not stand any more.
pub(crate) async fn stage(
    store: &dyn Store,
    name: &str,
    announced: ObjectId,
    collection: &str,
) -> Result<()> {
    let stage = Arc::new(Stage {
        name: name.to_owned(),
        announced,
        collection: collection.to_owned(),
    });
    store.run(stage, Durability::Immediate).await
}

struct Stage {
    name: String,
    announced: ObjectId,
    collection: String,
}

#[async_trait]
impl UnitOfWork for Stage {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        let (mut owner, mut migration) = announced(transaction, &self.name, self.announced).await?;
        migration.staged.insert(self.collection.clone());
        let is_new =
            self.collection != COLLECTION && migration.collections.insert(self.collection.clone());
        owner.migration = Some(migration);
        put(transaction, &owner.id, &owner).await?;
        let mut all = transaction.collections().await?.into_iter();
        let replaced = all.find(|spec| spec.name == self.collection);
        let replaced = replaced.unwrap_or_default();
        let create = CollectionChange::Create {
            name: staged_name(&self.collection),
            indexes: replaced.indexes,
            collation: replaced.collation,
        };
        transaction.change_collections(&[create]).await?;
        match is_new {
            true => next_epoch(transaction).await,
            false => Ok(()),
        }
    }
}

/// Replaces the collections by the staged ones, and brings the declarations into force.
///
/// # Errors
///
/// `Migrating` if the announcement of the migration does not stand any more.
pub(crate) async fn publish(store: &dyn Store, name: &str, announced: ObjectId) -> Result<()> {
    let name = name.to_owned();
    let publish = Arc::new(Publish { name, announced });
    store.run(publish, Durability::Immediate).await
}

struct Publish {
    name: String,
    announced: ObjectId,
}

#[async_trait]
impl UnitOfWork for Publish {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        let (_, migration) = announced(transaction, &self.name, self.announced).await?;
        let id = owner_id(&self.name);
        let staged = staged_name(COLLECTION);
        let (owner, _) = transaction.get_one(&staged, &id.as_str().into()).await?;
        let owner: Owner = decode(&owner.ok_or_else(|| withdrawn(&self.name))?)?;
        put(transaction, &id, &owner).await?;
        let changes = migration.staged.iter().map(|collection| {
            let from = staged_name(collection);
            match collection == COLLECTION {
                // Other databases may have changed theirs.
                true => CollectionChange::Drop { name: from },
                false => CollectionChange::Replace {
                    from,
                    to: collection.clone(),
                },
            }
        });
        let changes: Vec<CollectionChange> = changes.collect();
        change_collections(transaction, &changes).await?;
        indexes::forget_obsolete(transaction).await?;
        next_epoch(transaction).await
    }
}

/// Removes the staged collections of a migration.
pub(super) async fn drop_staged(
    transaction: &mut dyn Transaction,
    migration: &RunningMigration,
) -> Result<()> {
    if migration.staged.is_empty() {
        return Ok(());
    }
    let changes = migration
        .staged
        .iter()
        .map(|collection| CollectionChange::Drop {
            name: staged_name(collection),
        });
    let changes: Vec<CollectionChange> = changes.collect();
    transaction.change_collections(&changes).await
}

/// A database, and its migration, whose announcement still stands.
async fn announced(
    transaction: &mut dyn Transaction,
    name: &str,
    announced: ObjectId,
) -> Result<(Owner, RunningMigration)> {
    let owner = own(&*transaction, name).await?;
    let found = owner.and_then(|mut owner| {
        let migration = owner.migration.take()?;
        Some((owner, migration))
    });
    found
        .filter(|(_, migration)| migration.announced == Some(announced))
        .ok_or_else(|| withdrawn(name))
}
