//! The stored progress of the migration of a database.
//!
//! The record of a step changes in the unit that changes the documents, so that each document is changed once, even if the process ends in
//! between.
//!
//! A migration is *announced* before it begins: from then on no program writes to the collections of the database, so that the trial runs
//! the steps on the documents that they will change. Any program can withdraw an announcement at any time: the migration begins only if its
//! own still stands.

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;
use bson::{RawBson, oid::ObjectId};
use odm_store::{Durability, Error, ErrorKind, Reader, Result, Store, Transaction, UnitOfWork};
use serde::{Deserialize, Serialize};

use super::{Owner, next_epoch, owner_id, owners, put, staging::drop_staged};

/// A migration that has begun and has not ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunningMigration {
    /// The version that it leads to.
    pub(crate) to: u32,
    /// The steps that are done.
    pub(crate) done: Vec<String>,
    /// The `_id` of the last document that the next step has processed.
    #[serde(default, with = "odm_mql::stored_value")]
    pub(crate) after: Option<RawBson>,
    /// The program that has announced it; `None` once it has begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) announced: Option<ObjectId>,
    /// The collections to which nobody else writes, besides the collections of the version before.
    #[serde(default)]
    pub(crate) collections: BTreeSet<String>,
    /// The staged collections.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) staged: BTreeSet<String>,
}

impl RunningMigration {
    /// Whether it has begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.announced.is_none()
    }
}

/// Announces a migration under a name. Returns whether it stands; if not, a migration has begun, which goes on. An announcement
/// of another program is withdrawn.
pub(crate) async fn announce(
    store: &dyn Store,
    name: &str,
    announced: ObjectId,
    to: u32,
    collections: BTreeSet<String>,
) -> Result<bool> {
    let announce = Announce {
        name: name.to_owned(),
        migration: RunningMigration {
            to,
            done: Vec::new(),
            after: None,
            announced: Some(announced),
            collections,
            staged: BTreeSet::new(),
        },
    };
    store.run(Arc::new(announce), Durability::Immediate).await?;
    let migration = running(&*store.reader()?, name).await?;
    Ok(!migration.is_some_and(|migration| migration.has_begun()))
}

struct Announce {
    name: String,
    migration: RunningMigration,
}

#[async_trait]
impl UnitOfWork for Announce {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        let Some(mut owner) = own(&*transaction, &self.name).await? else {
            return Ok(());
        };
        match &mut owner.migration {
            Some(begun) if begun.has_begun() => {
                begun.collections.extend(self.migration.collections.clone());
            }
            other => {
                if let Some(left) = other.replace(self.migration.clone()) {
                    drop_staged(transaction, &left).await?;
                }
            }
        }
        put(transaction, &owner.id, &owner).await?;
        next_epoch(transaction).await
    }
}

/// Withdraws the announcement of a migration of a database that has not begun: this one, or any.
pub(crate) async fn withdraw(
    store: &dyn Store,
    name: &str,
    announced: Option<ObjectId>,
) -> Result<()> {
    let name = name.to_owned();
    let withdraw = Arc::new(WithdrawMigration { name, announced });
    store.run(withdraw, Durability::Immediate).await
}

struct WithdrawMigration {
    name: String,
    announced: Option<ObjectId>,
}

#[async_trait]
impl UnitOfWork for WithdrawMigration {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        let Some(mut owner) = own(&*transaction, &self.name).await? else {
            return Ok(());
        };
        let stands = |migration: &RunningMigration| {
            !migration.has_begun()
                && (self.announced.is_none() || self.announced == migration.announced)
        };
        if let Some(migration) = owner.migration.take_if(|migration| stands(migration)) {
            drop_staged(transaction, &migration).await?;
            put(transaction, &owner.id, &owner).await?;
            next_epoch(transaction).await?;
        }
        Ok(())
    }
}

/// The error of a program whose announcement does not stand any more.
pub(super) fn withdrawn(name: &str) -> Error {
    let message = format!(
        "migration withdrawn: another program has opened the database `{name}` before its migration began; nothing \
         has changed: stop the programs of older versions, and open the database again"
    );
    Error::new(ErrorKind::Migrating, message)
}

/// Returns the migration of a database that has begun.
pub(crate) async fn running(reader: &dyn Reader, name: &str) -> Result<Option<RunningMigration>> {
    Ok(own(reader, name).await?.and_then(|owner| owner.migration))
}

/// Records that the migration of a database begins, or leads to a newer version than before: older programs
/// are refused from now on.
///
/// # Errors
///
/// `Migrating` if it was announced, and the announcement does not stand any more.
pub(crate) async fn begin(
    transaction: &mut dyn Transaction,
    name: &str,
    to: u32,
    announced: Option<ObjectId>,
) -> Result<()> {
    let owner = own(&*transaction, name).await?;
    let Some((mut owner, mut migration)) = owner.and_then(|mut owner| {
        let migration = owner.migration.take()?;
        Some((owner, migration))
    }) else {
        return Err(withdrawn(name));
    };
    if migration.announced != announced {
        return Err(withdrawn(name));
    }
    migration.to = to;
    migration.announced = None;
    owner.migration = Some(migration);
    owner.oldest = Some(to.into());
    put(transaction, &owner.id, &owner).await?;
    next_epoch(transaction).await
}

/// Records the progress of a migration.
///
/// # Errors
///
/// `Migrating` if the record has changed since this program wrote it: another program goes on with the migration.
pub(crate) async fn advance(
    transaction: &mut dyn Transaction,
    name: &str,
    from: &RunningMigration,
    to: RunningMigration,
) -> Result<()> {
    let owner = own(&*transaction, name).await?;
    match owner {
        Some(mut owner) if owner.migration.as_ref() == Some(from) => {
            owner.migration = Some(to);
            put(transaction, &owner.id, &owner).await
        }
        _ => Err(Error::new(
            ErrorKind::Migrating,
            format!(
                "another program migrates the database `{name}`; open it again when that has ended"
            ),
        )),
    }
}

/// Records that all fields derived from a migration of a database are computed.
pub(crate) async fn end_migration(store: &dyn Store, name: &str) -> Result<()> {
    let end = EndMigration(name.to_owned());
    store.run(Arc::new(end), Durability::Immediate).await
}

struct EndMigration(String);

#[async_trait]
impl UnitOfWork for EndMigration {
    async fn run(&self, transaction: &mut dyn Transaction) -> Result<()> {
        match own(&*transaction, &self.0).await? {
            Some(mut owner) if owner.unfinished => {
                owner.unfinished = false;
                put(transaction, &owner.id, &owner).await
            }
            _ => Ok(()),
        }
    }
}

pub(super) async fn own(reader: &dyn Reader, name: &str) -> Result<Option<Owner>> {
    let id = owner_id(name);
    Ok(owners(reader)
        .await?
        .into_iter()
        .find(|owner| owner.id == id))
}
